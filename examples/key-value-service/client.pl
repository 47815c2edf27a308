#!/usr/bin/perl
# Sets and gets keys for some seconds, compares each answer with what it must be, and prints the rate. Fails at the
# first wrong answer.
use strict;
use warnings;
use IO::Socket::UNIX;

my ($path, $seconds) = @ARGV;
die "usage: client.pl SOCKET SECONDS\n" unless defined $seconds;
my $socket;
for (1 .. 200) {    # the server may still be starting
  $socket = IO::Socket::UNIX->new(Peer => $path) and last;
  select(undef, undef, undef, 0.05);
}
die "nobody answers at $path: $!\n" unless $socket;
$socket->autoflush(1);

my ($requests, %expected) = (0);

sub ask {
  my ($request, $expected) = @_;
  print $socket "$request\n";
  my $answer = <$socket> // die "the server is gone after $requests requests\n";
  chomp $answer;
  die "'$request' was answered '$answer' instead of '$expected'\n" if $answer ne $expected;
  $requests++;
}

my $time_left = 1;
$SIG{ALRM} = sub { $time_left = 0 };
alarm $seconds;
for (my $i = 0; $time_left; $i++) {
  my $key = "key" . ($i * 7919 % 1000);
  ask("get $key", exists $expected{$key} ? "value $expected{$key}" : "none");
  ask("set $key $i", "ok");
  $expected{$key} = $i;
}
printf "%d requests, every answer right, %d requests/s\n", $requests, $requests / $seconds;
