#!/usr/bin/perl
# A key-value store for one client at a time on a Unix socket. Lines in: "set KEY VALUE", "get KEY"; out: "ok",
# "value VALUE", "none". Serves until it is stopped.
use strict;
use warnings;
use IO::Socket::UNIX;

my ($path) = @ARGV;
die "usage: server.pl SOCKET\n" unless defined $path;
my $listener = IO::Socket::UNIX->new(Local => $path, Listen => 8) or die "cannot listen on $path: $!\n";

my %values;
while (my $client = $listener->accept) {
  $client->autoflush(1);
  while (my $request = <$client>) {
    if ($request =~ /^set (\S+) (\S+)$/) {
      $values{$1} = $2;
      print $client "ok\n";
    } elsif ($request =~ /^get (\S+)$/) {
      print $client exists $values{$1} ? "value $values{$1}\n" : "none\n";
    } else {
      print $client "error: what is that?\n";
    }
  }
}
