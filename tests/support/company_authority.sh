#!/bin/sh
# A company's authority, another below it, and certificates of roles that this one signed:
#   company_authority.sh FOLDER ROLE/NAME/SERIAL ...     (a serial is 16 hexadecimal digits)
# leaves FOLDER/root.pem and, of each, FOLDER/SERIAL/key.pem and certificate.pem, behind which the authority between stands.
set -eu
folder=$1
shift
cd "$folder"
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }
key root.key
openssl req -x509 -new -key root.key -days 2 -subj "/CN=company root" -addext basicConstraints=critical,CA:TRUE -out root.pem
key between.key
openssl req -new -key between.key -subj "/CN=company roles" -out between.csr
printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n' >between.ext
openssl x509 -req -in between.csr -CA root.pem -CAkey root.key -CAcreateserial -days 2 -extfile between.ext -out between.pem 2>/dev/null
for member; do
  serial=${member##*/} role=${member%%/*}
  mkdir "$serial"
  key "$serial/key.pem"
  # A slash of a name stands behind a backslash.
  openssl req -new -key "$serial/key.pem" -subj "/CN=$(printf %s "$member" | sed 's,/,\\/,g')" -out role.csr
  printf 'basicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth,clientAuth\nsubjectAltName=DNS:%s.tarcil.internal\n' "$role" >role.ext
  openssl x509 -req -in role.csr -CA between.pem -CAkey between.key -set_serial "0x$serial" -days 1 -extfile role.ext -out role.pem 2>/dev/null
  cat role.pem between.pem >"$serial/certificate.pem"
done
