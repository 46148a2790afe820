#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh: puts a wrapper in front of git, and works in a repository that wants more than it should
# have. All of it happens in a temporary folder.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
export PATH="${SBX_BUILD:-$PWD/../../build/release}/bin:$PATH"
policy=$PWD/policy.ini
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME=$dir/home
mkdir -p "$HOME/.ssh" "$dir/bin" "$dir/project"
echo 'a private key' >"$HOME/.ssh/id_ed25519"
printf '[user]\n\tname = Demo\n\temail = demo@example.org\n[init]\n\tdefaultBranch = main\n' >"$HOME/.gitconfig"
cd "$dir/project"

echo '== The wrapper:'
PATH=$dir/bin:$PATH
sbx-launch --wrap git -p "$policy" -o "$dir/bin"
sed "s|'/[^']*/|'.../|g" "$dir/bin/git"

echo '== git is the wrapper now, and works as ever:'
git init --quiet
echo hello >file
git add file
git commit --quiet -m 'First'
git log --format='%an: %s'

echo '== A hook that came with the repository, and reads what it should not:'
printf '#!/bin/sh\ncat ~/.ssh/id_ed25519 || echo "the hook got nothing"\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
echo more >>file
git commit --quiet -am 'Second' 2>&1 | sed "s|$dir|...|"
git log --format='%an: %s' -n 1

echo '== And the exit status is its own:'
git rev-parse --verify --quiet no-such-branch || echo "git ended with $?"
