#!/bin/sh
# Run an agent so that it reaches the vault's socket and nothing else of your account (bubblewrap):
#   sandbox.sh [--net] FOLDER PROGRAM [ARGUMENT...]
# FOLDER is all that the agent keeps; it is its home. --net gives it the network.
set -eu
net=
if [ "$1" = --net ]; then net=--share-net; shift; fi
folder=$(realpath -- "$1"); shift
if [ -n "${XDG_RUNTIME_DIR:-}" ]; then place=$XDG_RUNTIME_DIR/agent-vault/s.sock; else place=$HOME/.agent-vault/s.sock; fi
sock=$(realpath -- "${VAULT_SOCK:-$place}")
# The socket's folder is bound, not the socket: so the agent finds the vault again after a restart.
exec bwrap --unshare-all $net --die-with-parent --new-session --clearenv --cap-drop ALL \
  --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
  ${net:+--ro-bind-try /etc/ssl /etc/ssl --ro-bind-try /etc/resolv.conf /etc/resolv.conf --ro-bind-try /etc/hosts /etc/hosts} \
  --proc /proc --dev /dev --tmpfs /tmp --bind "$folder" /agent --chdir /agent \
  --ro-bind "$(dirname -- "$sock")" /run/vault --setenv VAULT_SOCK "/run/vault/$(basename -- "$sock")" \
  --setenv HOME /agent --setenv PATH /usr/bin:/bin --setenv LANG C.UTF-8 "$@"
