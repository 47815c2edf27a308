#!/usr/bin/perl
# Copies and inverts arrays larger than the caches, pass after pass, and prints the bytes moved per second of CPU time,
# counted as STREAM counts them. Checks in the end that the bytes are what the passes must have made of them.
use strict;
use warnings;

my $bytes = ($ENV{ARRAY_MIB} // 24) * 1024 * 1024;
my $passes = $ENV{PASSES} // 300;
die "ARRAY_MIB and PASSES must be at least 1\n" unless $bytes >= 1048576 && $passes >= 1;
my $task = $ENV{TARCIL_TASK} // 0;

my $source = chr(0x5a) x $bytes;
my $copy = "\0" x $bytes;
my $began = times;
for my $pass (1 .. $passes) {
  substr($copy, 0, $bytes) = $source;    # copy: one array into the other
  $source = ~$copy;                      # scale: an operation on every byte on the way back
}
my $seconds = times() - $began;
my $moved = 4 * $bytes * $passes;    # each pass reads and writes each array once

my $expected = chr($passes % 2 ? 0xa5 : 0x5a);
die "task $task: wrong bytes after $passes passes\n" if $source ne $expected x $bytes;
printf "task %d: %d passes over arrays of %d MiB: %.0f MB moved in %.2f s of CPU time, %.0f MB/s, verified\n", $task,
  $passes, $bytes / 1048576, $moved / 1e6, $seconds, $moved / 1e6 / ($seconds || 0.01);
