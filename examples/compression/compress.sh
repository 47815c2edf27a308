#!/bin/sh
# Makes a part of a log, compresses it at two levels, unpacks it and compares checksums. Fails if they differ.
set -eu
part=${TARCIL_TASK:-0}
bytes=$((${PART_KIB:-12288} * 1024))

# The same log for the same part: a generator of pseudo-random numbers seeded with the part's number.
perl -e '
  my ($bytes, $state, $size) = (@ARGV, 0);
  my @verbs = qw(GET PUT POST DELETE);
  while ($size < $bytes) {
    $state = ($state * 1103515245 + 12345) % 2147483648;
    my $line = sprintf("%s /items/%d status=%d user=%05x ms=%d\n", $verbs[$state >> 8 & 3], $state >> 10 & 4095,
                       $state >> 6 & 15 ? 200 : 404, $state & 0xfffff, $state >> 20 & 511);
    print $line;
    $size += length $line;
  }' "$bytes" $((part + 1)) >part.log

checksum() { sha256sum | cut -d ' ' -f 1; }
size() { wc -c <"$1"; }

expected=$(checksum <part.log)
for level in 1 9; do
  gzip -"$level" -c part.log >part.gz
  if [ "$(gzip -dc part.gz | checksum)" != "$expected" ]; then
    echo "part $part: level $level did not come back unchanged" >&2
    exit 1
  fi
  echo "part $part: level $level: $(size part.log) -> $(size part.gz) bytes," \
    "$((100 * $(size part.gz) / $(size part.log))) %, round trip verified"
done
