#!/bin/sh
# Makes a Debian package of a built program: build.sh PROGRAM VERSION FOLDER
set -eu
program=$1 version=$2 out=$3
cd "$(dirname "$0")/../.."
arch=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"

install -D -m 0755 "$program" "$root/usr/bin/trestle"
install -D -m 0644 packaging/trestle.service "$root/usr/lib/systemd/system/trestle.service"
install -D -m 0644 packaging/deb/trestle.yaml "$root/etc/trestle/trestle.yaml"
install -d -m 0700 "$root/etc/trestle/secrets"
install -D -m 0644 -t "$root/usr/share/doc/trestle" LICENSE CHANGELOG.md packaging/dashboard.json docs/*.md
for shell in bash zsh fish; do
	case $shell in
	bash) file=usr/share/bash-completion/completions/trestle ;;
	zsh) file=usr/share/zsh/vendor-completions/_trestle ;;
	fish) file=usr/share/fish/vendor_completions.d/trestle.fish ;;
	esac
	mkdir -p "$root/${file%/*}"
	"$program" completion "$shell" >"$root/$file"
done

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<EOF
Package: trestle
Version: $version
Architecture: $arch
Maintainer: The Trestle maintainers <trestle@localhost>
Installed-Size: $(du -ks --exclude=DEBIAN "$root" | cut -f1)
Recommends: ca-certificates
Section: net
Priority: optional
Description: LLM agents that live in chats
 One program with its SQLite file; its agents are members of the chats that
 people already use.
EOF
echo /etc/trestle/trestle.yaml >"$root/DEBIAN/conffiles"
install -m 0755 packaging/deb/postinst packaging/deb/prerm packaging/deb/postrm "$root/DEBIAN/"
mkdir -p "$out"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)} \
	dpkg-deb --root-owner-group --build "$root" "$out/trestle_${version}_$arch.deb"
