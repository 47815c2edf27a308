#!/bin/sh
# Generates a shard of text, counts its words, and prints the three most frequent. Fails if a word went missing.
set -eu
shard=${TARCIL_TASK:-0}
words=${WORDS:-3000000}

# Words as frequent as in real text: the k-th of a vocabulary about 1/k as often as the first. Same shard, same text.
awk -v n="$words" -v seed="$((shard + 1))" 'BEGIN {
  srand(seed)
  for (i = 1; i <= n; i++) printf "word%d%s", int(exp(rand() * log(5000))), i % 12 ? " " : "\n"
  print ""
}' >shard.txt

awk '{ for (i = 1; i <= NF; i++) count[$i]++ } END { for (word in count) print count[word], word }' shard.txt |
  sort -k 1,1nr -k 2 >counts.txt

counted=$(awk '{ sum += $1 } END { print sum + 0 }' counts.txt)
if [ "$counted" -ne "$words" ]; then
  echo "shard $shard: $counted words counted, $words written" >&2
  exit 1
fi
most=$(awk 'NR <= 3 { printf "%s%s %d times", (NR > 1 ? ", " : ""), $2, $1 }' counts.txt)
echo "shard $shard of ${TARCIL_TASKS:-1}: $counted words, $(wc -l <counts.txt) different; most frequent: $most"
