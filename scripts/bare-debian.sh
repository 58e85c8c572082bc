#!/usr/bin/env bash
# `npm run test:bare -- [TEXT]`: `.ci/run [TEXT]` with the last commit, in a Debian with nothing installed, as a fresh machine of the CI is.
# Wants root, debootstrap and some 8 GiB. The root and its mounts are gone at the end, however it ends. How this machine reaches
# packages (proxies, certificates, registries) is taken along.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" != 0 ]; then
  echo 'Run it as root: it makes a root file system and mounts in it.' >&2
  exit 1
fi
if ! command -v debootstrap >/dev/null; then
  echo 'Install debootstrap first.' >&2
  exit 1
fi
# Mounts and processes of its own: they end with it, and nothing of them is left to be removed with the folder.
if [ -z "${MILLRACE_BARE:-}" ]; then
  folder=$(mktemp -d "${TMPDIR:-/tmp}/millrace-bare-XXXXXX")
  # apt reads in it as a user of its own.
  chmod 755 "$folder"
  status=0
  MILLRACE_BARE=$folder unshare --mount --pid --fork --kill-child "$0" "$@" &
  inside=$!
  # Whoever ends this one ends all that is inside.
  trap 'kill -KILL "$inside" || true' HUP INT TERM
  wait "$inside" || status=$?
  # What was killed may write for a moment.
  rm -rf --one-file-system "$folder" "$folder.log" || { sleep 5 && rm -rf --one-file-system "$folder"; }
  exit "$status"
fi

folder=$MILLRACE_BARE
echo "a bare Debian in $folder"
debootstrap --variant=minbase --include=ca-certificates bookworm "$folder" >"$folder.log" 2>&1 || {
  tail -n 20 "$folder.log" >&2
  exit 1
}
mount -t proc proc "$folder/proc"
mount --rbind /dev "$folder/dev"
mount -t tmpfs tmpfs "$folder/run"
mount -t sysfs -o ro sysfs "$folder/sys"

for file in /etc/resolv.conf /etc/hosts /etc/pip.conf "$HOME/.npmrc" "$HOME/.m2/settings.xml" /etc/apt/apt.conf.d/*; do
  if [ -f "$file" ]; then
    mkdir -p "$folder$(dirname "$file")"
    cp -L "$file" "$folder$file"
  fi
done
# Certificates of a proxy: Debian's own list takes what lies in this folder as soon as it is made.
if [ -d /usr/local/share/ca-certificates ]; then
  cp -rL /usr/local/share/ca-certificates/. "$folder/usr/local/share/ca-certificates/"
  chroot "$folder" update-ca-certificates >/dev/null
fi
{
  echo "deb http://deb.debian.org/debian bookworm main"
  echo "deb http://deb.debian.org/debian bookworm-updates main"
  echo "deb http://deb.debian.org/debian-security bookworm-security main"
} >"$folder/etc/apt/sources.list"

git clone -q --no-hardlinks . "$folder/millrace"
exec chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt /bin/bash /millrace/.ci/run "$@"
