/* SPDX-License-Identifier: MIT */
/*
 * What policies mean for paths, case by case: INI text, questions, and the reason codes of the
 * answers. Every policy is asked again with its lines in another order, which must not matter.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SHUFFLES 4
#define MAX_LINES 64

/*
 * Questions are lines "OP TARGET -> CODE", relative to the tree. "raw OP PATH" goes to the engine as
 * it is, behind the tree's root and without a look at the file system.
 */
static const struct {
	const char *name;
	const char *policy;
	const char *asks;
} groups[] = {
	{ "nothing is allowed that no rule allows", ALONE,
	  "read work/f -> outside\n"
	  "list . -> outside\n"
	  "read / -> outside\n"
	  "write work/f -> outside\n"
	  "create work/new -> outside\n"
	  "change work/f -> outside\n"
	  "exec work/tool -> exec\n"
	  "connect unix:./work/socket -> destination\n" },
	{ "a look-alike of a root is outside of it", ALONE "[paths]\nread = ./work\n",
	  "read work -> allowed\n"
	  "read work/f -> allowed\n"
	  "list work/sub/deep -> allowed\n"
	  "read work-evil/f -> outside\n"
	  "read workshop -> outside\n"
	  "read wor -> outside\n"
	  "read Work/f -> outside\n"
	  "list . -> outside\n" },
	{ "the longer of two look-alikes is a root of its own",
	  ALONE "[paths]\nread = ./work-evil\n",
	  "read work-evil/f -> allowed\n"
	  "read work/f -> outside\n"
	  "read work-evil-er -> outside\n" },
	{ "dots and slashes do not change where a path leads", ALONE "[paths]\nread = ./work\n",
	  "read work/../work-evil/f -> outside\n"
	  "read work/../work/f -> allowed\n"
	  "read work/sub/../../work-evil/f -> outside\n"
	  "read work-evil/../work/f -> allowed\n"
	  "read ./work/./f -> allowed\n"
	  "read work//f -> allowed\n"
	  "read .//work/.//./f -> allowed\n"
	  "list work/ -> allowed\n"
	  "list work/sub/. -> allowed\n"
	  "list work/.. -> outside\n" },
	{ "the engine skips what means nothing and refuses what it cannot know",
	  ALONE "[paths]\nread = ./work\n",
	  "raw read /work//f -> allowed\n"
	  "raw read //work/f -> allowed\n"
	  "raw read /work/./f -> allowed\n"
	  "raw read /./work/. -> allowed\n"
	  "raw read /work/f/ -> allowed\n"
	  "raw read /work/.. -> outside\n"
	  "raw read /work/../work/f -> outside\n"
	  "raw read /work/sub/../f -> outside\n"
	  "raw read /work/..f -> allowed\n"
	  "raw read /work/... -> allowed\n"
	  "raw read /work/.f -> allowed\n" },
	{ "a rule's path may be written with dots and slashes too",
	  ALONE "[paths]\nread = .//work/./sub/../sub///\n",
	  "list work/sub -> allowed\n"
	  "read work/sub/deep/leaf -> allowed\n"
	  "read work/f -> outside\n" },
	{ "reading is no writing and no executing", ALONE "[paths]\nread = ./work\n",
	  "write work/f -> read_only\n"
	  "create work/new -> read_only\n"
	  "delete work/f -> read_only\n"
	  "rename work/f -> read_only\n"
	  "change work/f -> read_only\n"
	  "exec work/tool -> exec\n" },
	{ "writing implies reading, and is no executing", ALONE "[paths]\nwrite = ./work\n",
	  "read work/f -> allowed\n"
	  "list work -> allowed\n"
	  "write work/f -> allowed\n"
	  "create work/new -> allowed\n"
	  "create work/new/ -> allowed\n"
	  "delete work/f -> allowed\n"
	  "rename work/f -> allowed\n"
	  "change work/f -> allowed\n"
	  "exec work/tool -> exec\n" },
	{ "a root itself stands in a folder that is not writable",
	  ALONE "[paths]\nwrite = ./work\n",
	  "delete work -> outside\n"
	  "rename work -> outside\n"
	  "change work -> allowed\n" },
	{ "a file may be writable where its folder is not",
	  ALONE "[paths]\nread = ./work\nwrite = ./work/f\n",
	  "write work/f -> allowed\n"
	  "delete work/f -> read_only\n"
	  "rename work/f -> read_only\n"
	  "write work/tool -> read_only\n" },
	{ "executing implies reading, and is no writing", ALONE "[paths]\nexec = ./work/tool\n",
	  "exec work/tool -> allowed\n"
	  "read work/tool -> allowed\n"
	  "write work/tool -> read_only\n"
	  "exec work/f -> exec\n"
	  "exec work/tools -> exec\n" },
	{ "rights of several rules add up on the way down",
	  ALONE "[paths]\nread = .\nexec = ./work\nwrite = ./work/sub\n",
	  "read work-evil/f -> allowed\n"
	  "exec work/tool -> allowed\n"
	  "write work/f -> read_only\n"
	  "write work/sub/deep/leaf -> allowed\n"
	  "exec work/sub/deep/leaf -> allowed\n" },
	{ "a workspace can be read, written and run in",
	  "[sandbox]\ninclude = none\nworkspace = ./work\n",
	  "read work/f -> allowed\n"
	  "write work/f -> allowed\n"
	  "exec work/tool -> allowed\n"
	  "create work/sub/new -> allowed\n"
	  "write work-evil/f -> outside\n" },
	{ "an allowed place inside a denied one inside an allowed one is allowed",
	  ALONE "[paths]\nread = .\ndeny = ./work\nread = ./work/sub\ndeny = ./work/sub/deep\n"
		"read = ./work/sub/deep/leaf\n",
	  "read work-evil/f -> allowed\n"
	  "read work/f -> denied\n"
	  "list work -> denied\n"
	  "list work/sub -> allowed\n"
	  "list work/sub/deep -> denied\n"
	  "read work/sub/deep/other -> denied\n"
	  "read work/sub/deep/leaf -> allowed\n"
	  "write work/sub/deep/leaf -> read_only\n"
	  "exec work/f -> denied\n" },
	{ "deny takes all rights", ALONE "[paths]\nwrite = .\nexec = .\ndeny = ./work/sub\n",
	  "write work/f -> allowed\n"
	  "write work/sub/x -> denied\n"
	  "create work/sub -> denied\n"
	  "delete work/sub -> denied\n"
	  "list work/sub -> denied\n"
	  "exec work/sub/x -> denied\n"
	  "create work/sub2 -> allowed\n" },
	{ "hidden places are not there", ALONE "[paths]\nwrite = .\nhide = ./work/sub\n",
	  "read work/sub -> hidden\n"
	  "read work/sub/deep/leaf -> hidden\n"
	  "create work/sub/new -> hidden\n"
	  "delete work/sub -> hidden\n"
	  "read work/f -> allowed\n" },
	{ "what does not exist can be denied and hidden",
	  ALONE "[paths]\nwrite = .\ndeny = ./work/never\nhide = ./work/nowhere/at/all\n",
	  "create work/never -> denied\n"
	  "create work/never/more -> denied\n"
	  "create work/nowhere/ -> allowed\n"
	  "create work/nowhere/at/all -> hidden\n"
	  "create work/nevermore -> allowed\n" },
	{ "who gives nothing does not show what is hidden",
	  ALONE "[paths]\nwrite = .\nhide = ./work\ndeny = ./**/leaf, ./work/f\nread = ./work/sub\n"
		"[path none]\nroot = ./work/a\nmode = none\n",
	  "read work/f -> hidden\n"
	  "create work/leaf -> hidden\n"
	  "read work/a -> hidden\n"
	  "read work/sub -> allowed\n"
	  "read work/sub/deep/leaf -> denied\n" },
	{ "on one path hide beats deny", ALONE "[paths]\nread = .\ndeny = ./work\nhide = ./work\n",
	  "read work/f -> hidden\n" },
	{ "on one path deny beats [path]",
	  ALONE "[paths]\nread = .\ndeny = ./work\n[path one]\nroot = ./work\nmode = rwx\n",
	  "read work/f -> denied\n"
	  "write work/f -> denied\n" },
	{ "on one path hide beats [path]",
	  ALONE "[paths]\nread = .\nhide = ./work\n[path one]\nroot = ./work\nmode = rwx\n",
	  "read work/f -> hidden\n" },
	{ "on one path [path] beats the lists",
	  ALONE "[paths]\nwrite = ./work\nexec = ./work\n[path one]\nroot = ./work\nmode = ro\n",
	  "read work/f -> allowed\n"
	  "write work/f -> read_only\n"
	  "exec work/tool -> exec\n" },
	{ "on one path all words meet and hide is heard",
	  ALONE "[paths]\nwrite = ./work\nexec = ./work\nread = ./work\ndeny = ./work\n"
		"hide = ./work\n[path one]\nroot = ./work\nmode = rwx\n",
	  "read work/f -> hidden\n"
	  "exec work/tool -> hidden\n" },
	{ "a [path] section sets rights exactly, also to none",
	  ALONE "[paths]\nwrite = .\n[path a]\nroot = ./work\nmode = rx\n[path b]\n"
		"root = ./work/sub\nmode = none\n",
	  "exec work/tool -> allowed\n"
	  "write work/f -> read_only\n"
	  "read work/sub/deep -> denied\n"
	  "write work-evil/f -> allowed\n" },
	{ "the lists add to a [path] section from below",
	  ALONE "[path a]\nroot = ./work\nmode = ro\n[paths]\nwrite = ./work/sub\n",
	  "write work/f -> read_only\n"
	  "create work/sub/new -> allowed\n" },
	{ "a [path] section opens a denied place again",
	  ALONE "[paths]\ndeny = ./work\n[path a]\nroot = ./work/sub\nmode = rw\n",
	  "read work/f -> denied\n"
	  "create work/sub/new -> allowed\n" },
	{ "'*' stays within a component", ALONE "[paths]\nread = ./*/sub\n",
	  "list work/sub -> allowed\n"
	  "read work/sub/deep/leaf -> allowed\n"
	  "read work/f -> outside\n"
	  "read sub -> outside\n"
	  "read work/deep/sub -> outside\n" },
	{ "'*' may stand at the end, the start and the middle of a name",
	  ALONE "[paths]\nread = ./wor*, ./*.md, ./p*t\n",
	  "read work/f -> allowed\n"
	  "read work-evil/f -> allowed\n"
	  "read wor -> allowed\n"
	  "read wo -> outside\n"
	  "read notes.md -> allowed\n"
	  "read .md -> allowed\n"
	  "read notes.mdx -> outside\n"
	  "read part -> allowed\n"
	  "read pt -> allowed\n"
	  "read parts -> outside\n"
	  "read sub/notes.md -> outside\n" },
	{ "'**' spans any number of components, also none", ALONE "[paths]\nread = ./**/*.md\n",
	  "read notes.md -> allowed\n"
	  "read work/report.md -> allowed\n"
	  "read work/sub/deep/x.md -> allowed\n"
	  "read work/sub/x.md/inside -> allowed\n"
	  "read work/f -> outside\n"
	  "list work -> outside\n" },
	{ "'**' between names", ALONE "[paths]\nread = ./work/**/leaf\n",
	  "read work/leaf -> allowed\n"
	  "read work/sub/deep/leaf -> allowed\n"
	  "read leaf -> outside\n"
	  "read work-evil/leaf -> outside\n"
	  "read work/sub/leaves -> outside\n" },
	{ "'**' at the end says what its folder says", ALONE "[paths]\nread = ./work/**\n",
	  "list work -> allowed\n"
	  "read work/sub/deep/leaf -> allowed\n"
	  "read work-evil/f -> outside\n" },
	{ "'?' is one character, however many bytes it has", ALONE "[paths]\nread = ./?, ./f?g\n",
	  "read a -> allowed\n"
	  "read \xc3\xa9 -> allowed\n"
	  "read \xe6\x97\xa5 -> allowed\n"
	  "read \xf0\x9f\x98\x80 -> allowed\n"
	  "read ab -> outside\n"
	  "read e\xcc\x81 -> outside\n"
	  "read f\xc3\xa9g -> allowed\n"
	  "read fg -> outside\n" },
	{ "a glob speaks at the component it matches, and deeper words count more",
	  ALONE "[paths]\nwrite = .\ndeny = ./**/secret*\nread = ./work/secrets/public\n",
	  "read secret -> denied\n"
	  "create work/secret.txt -> denied\n"
	  "read work/secrets/private -> denied\n"
	  "read work/secrets/public/x -> allowed\n"
	  "write work/secrets/public/x -> read_only\n"
	  "read work/public -> allowed\n"
	  "read work/sub/deep/secrets/public -> denied\n" },
	{ "a glob and a name on one path are one place",
	  ALONE "[paths]\nread = ./work/f\ndeny = ./*/f\nhide = ./work/?\n",
	  "read work/f -> hidden\n"
	  "read work-evil/f -> denied\n" },
	{ "quotes make a name of a pattern", ALONE "[paths]\nread = \"./odd*name\"\n",
	  "read odd*name -> allowed\n"
	  "read oddXname -> outside\n" },
	{ "a rule about a link is about what it leads to", ALONE "[paths]\nread = ./link\n",
	  "read work/f -> allowed\n"
	  "read link/f -> allowed\n"
	  "read work-evil/f -> outside\n" },
	{ "a denied link is denied under both names", ALONE "[paths]\nwrite = .\ndeny = ./link\n",
	  "read work/f -> denied\n"
	  "read link/f -> denied\n"
	  "delete link -> denied\n"
	  "read work-evil/f -> allowed\n" },
	{ "a pattern behind a link holds where the link leads",
	  ALONE "[paths]\nread = ./link/*.md\n",
	  "read work/report.md -> allowed\n"
	  "read link/report.md -> allowed\n"
	  "read work/f -> outside\n" },
	{ "a link inside a root does not lead out of the rules", ALONE "[paths]\nread = ./work\n",
	  "read work/out -> outside\n"
	  "read work/out/f -> outside\n" },
	{ "a missing writable root may be created, with the folders it stands in",
	  ALONE "[paths]\nwrite = ./new/deep/root\n",
	  "create new/ -> allowed\n"
	  "create new/deep/ -> allowed\n"
	  "create new/deep/root -> allowed\n"
	  "create new/deep/root/ -> allowed\n"
	  "create new/deep/root/x -> allowed\n"
	  "create new -> outside\n"
	  "create new/deep -> outside\n"
	  "create new/other/ -> outside\n"
	  "create new/deep/root2 -> outside\n"
	  "delete new/ -> outside\n"
	  "rename new/deep/ -> outside\n"
	  "list new/ -> outside\n"
	  "create newer/ -> outside\n" },
	{ "a missing root of a [path] section may be created as well",
	  ALONE "[path a]\nroot = ./new/root\nmode = rw\nsuffixes = .md\n",
	  "create new/ -> allowed\n"
	  "create new/root/ -> allowed\n"
	  "create new/root/x.md -> allowed\n"
	  "create new/root/x.sh -> suffix\n" },
	{ "a denied folder on the way to a missing root is not created",
	  ALONE "[paths]\nwrite = ./new/root\ndeny = ./new\n",
	  "create new/ -> denied\n"
	  "create new/root -> allowed\n" },
	{ "what may be missing says nothing while it is",
	  ALONE "[paths]\nread = ./work, ./nope ?\nexec = ./never/there ?\n",
	  "read nope -> outside\n"
	  "exec never/there -> exec\n"
	  "read work/f -> allowed\n" },
	{ "what runs later, outside, is protected inside writable roots",
	  "[sandbox]\ninclude = none\nworkspace = ./work\n",
	  "read work/.git/config -> allowed\n"
	  "write work/.git/config -> protected\n"
	  "create work/.git/hooks/post-commit -> protected\n"
	  "delete work/.git/hooks -> protected\n"
	  "write work/.git/index -> allowed\n"
	  "create work/.bashrc -> protected\n"
	  "create work/sub/deep/.npmrc -> protected\n"
	  "create work/.vscode/ -> protected\n"
	  "create work/sub/.vscode/tasks.json -> protected\n"
	  "create work/.bashrc2 -> allowed\n"
	  "change work/.git/hooks -> protected\n" },
	{ "protections are about what is writable", ALONE "[paths]\nread = ./work\n",
	  "write work/.git/config -> read_only\n"
	  "create work/.bashrc -> read_only\n"
	  "create work-evil/.bashrc -> outside\n" },
	{ "a new repository has no hooks to protect",
	  "[sandbox]\ninclude = none\nworkspace = ./work\n",
	  "create work/fresh/.git/hooks/post-commit -> allowed\n"
	  "create work/fresh/.git/config -> allowed\n"
	  "create work/fresh/.gitmodules -> allowed\n"
	  "create work/.gitmodules -> protected\n"
	  "create work/fresh/.bashrc -> protected\n" },
	{ "'protect = no' lifts all protections",
	  "[sandbox]\ninclude = none\nworkspace = ./work\nprotect = no\n",
	  "write work/.git/config -> allowed\n"
	  "create work/.bashrc -> allowed\n" },
	{ "what is made writable by its own name is not protected",
	  "[sandbox]\ninclude = none\nworkspace = ./work\n[paths]\nwrite = ./work/.git/hooks\n",
	  "create work/.git/hooks/post-commit -> allowed\n"
	  "write work/.git/config -> protected\n" },
	{ "nor is what stands below a name that is",
	  "[sandbox]\ninclude = none\nworkspace = ./work\n[paths]\n"
	  "write = ./work/.git/hooks/post-commit\n",
	  "write work/.git/hooks/post-commit -> allowed\n"
	  "write work/.git/hooks/pre-commit -> protected\n" },
	{ "a [path] section lifts a protection by name too",
	  "[sandbox]\ninclude = none\nworkspace = ./work\n[path hooks]\nroot = ./work/.git/hooks\n"
	  "mode = rw\n",
	  "create work/.git/hooks/post-commit -> allowed\n" },
	{ "a pattern lifts no protection",
	  "[sandbox]\ninclude = none\nworkspace = ./work\n[paths]\nwrite = ./work/**/hooks, "
	  "./*/.b*\n",
	  "create work/.git/hooks/post-commit -> protected\n"
	  "create work/.bashrc -> protected\n" },
	{ "a root above a protected place does not lift it",
	  "[sandbox]\ninclude = none\nworkspace = ./work\n[paths]\nwrite = ./work/.git\n",
	  "create work/.git/hooks/post-commit -> protected\n"
	  "write work/.git/index -> allowed\n" },
	{ "the policy is never writable", "[sandbox]\ninclude = none\nworkspace = .\n",
	  "read policy.ini -> allowed\n"
	  "write policy.ini -> read_only\n"
	  "delete policy.ini -> read_only\n"
	  "rename policy.ini -> read_only\n"
	  "change policy.ini -> read_only\n"
	  "write policy.ini2 -> allowed\n" },
	{ "the policy is not writable by its own name either",
	  "[sandbox]\ninclude = none\nworkspace = .\nprotect = no\n[paths]\nwrite = ./policy.ini\n"
	  "[path a]\nroot = ./policy.ini\nmode = rwx\n",
	  "write policy.ini -> read_only\n" },
	{ "what the policy includes, and its log, are never writable",
	  "[sandbox]\ninclude = none, ./more.ini, ./alias.ini\nworkspace = .\n[errors]\n"
	  "log = ./work/sbx.log\n",
	  "write more.ini -> read_only\n"
	  "write even-more.ini -> read_only\n"
	  "write shown.ini -> read_only\n"
	  "delete alias.ini -> read_only\n"
	  "create work/sbx.log -> read_only\n"
	  "create work/sbx.log2 -> allowed\n" },
	{ "an included file's relative paths are its own",
	  "[sandbox]\ninclude = none, ./sub/inside.ini\n",
	  "read sub/here/x -> allowed\n"
	  "read here/x -> outside\n" },
	{ "files of other suffixes are refused",
	  ALONE "[path docs]\nroot = ./work\nmode = rwx\nsuffixes = .md, .tar.gz\n",
	  "read work/report.md -> allowed\n"
	  "create work/x.tar.gz -> allowed\n"
	  "read work/f -> suffix\n"
	  "create work/x.gz -> suffix\n"
	  "create work/md -> suffix\n"
	  "create work/x.md.sh -> suffix\n"
	  "create work/x.MD -> suffix\n"
	  "create work/.md -> allowed\n"
	  "exec work/tool -> suffix\n"
	  "delete work/f -> suffix\n"
	  "list work/sub -> allowed\n"
	  "create work/folder/ -> allowed\n"
	  "read work/sub/deep/x.md -> allowed\n"
	  "read work-evil/x.md -> outside\n" },
	{ "rights are judged before suffixes",
	  ALONE "[path docs]\nroot = ./work\nmode = ro\nsuffixes = .md\n",
	  "write work/f -> read_only\n"
	  "read work/f -> suffix\n"
	  "exec work/tool -> exec\n" },
	{ "a deeper section, deny or hide replaces suffixes; a list does not",
	  ALONE "[path docs]\nroot = ./work\nmode = rw\nsuffixes = .md\n[path all]\n"
		"root = ./work/sub\nmode = rw\n[paths]\nwrite = ./work/other\nread = ./work\n",
	  "create work/x -> suffix\n"
	  "create work/sub/x -> allowed\n"
	  "create work/other/x -> suffix\n" },
	{ "files over the size are refused",
	  ALONE "[path docs]\nroot = ./work\nmode = rw\nmax_file_bytes = 1k\n",
	  "read work/report.md -> allowed\n"
	  "read work/big.md -> size\n"
	  "write work/big.md -> size\n"
	  "read work/exact.md -> allowed\n"
	  "delete work/big.md -> allowed\n"
	  "create work/new -> allowed\n" },
	{ "a listed UNIX socket can be connected to, and no other",
	  ALONE "[network]\nconnect = unix:./work/socket\n",
	  "connect unix:./work/socket -> allowed\n"
	  "connect unix:./work/socket2 -> destination\n"
	  "connect unix:./link/socket -> allowed\n"
	  "connect unix:./work -> destination\n"
	  "read work/socket -> outside\n" },
	{ "a folder of sockets, and what is denied in it",
	  ALONE "[network]\nconnect = unix:./work, unix:./new/later.sock\ndeny = unix:./work/sub\n",
	  "connect unix:./work/socket -> allowed\n"
	  "connect unix:./work/sub/deep/socket -> denied\n"
	  "connect unix:./new/later.sock -> allowed\n"
	  "connect unix:./work-evil/socket -> destination\n" },
	{ "a [path] section says nothing of sockets; deny does",
	  ALONE "[network]\nconnect = unix:./work\n[path a]\nroot = ./work/sub\nmode = none\n"
		"[paths]\ndeny = ./work/private\n",
	  "connect unix:./work/sub/socket -> allowed\n"
	  "read work/sub/deep -> outside\n"
	  "connect unix:./work/private/socket -> denied\n" },
	{ "a denied socket stays so whatever is listed below",
	  ALONE "[network]\ndeny = unix:./work\nconnect = unix:./work/socket\n",
	  "connect unix:./work/socket -> denied\n" },
	{ "a UNIX socket is made where files can be made", ALONE "[paths]\nwrite = ./work\n",
	  "bind unix:./work/new.sock -> allowed\n"
	  "bind unix:./work-evil/new.sock -> outside\n"
	  "connect unix:./work/new.sock -> destination\n" },
	{ "what is in a folder cannot be moved from under a rule",
	  ALONE "[paths]\nwrite = .\ndeny = ./work/sub/deep\nhide = ./docs/*/gone\n[path ro]\n"
		"root = ./bin/f\nmode = ro\n",
	  "rename work/sub -> denied\n"
	  "rename work -> denied\n"
	  "rename work/fresh -> allowed\n"
	  "rename docs -> denied\n"
	  "rename docs/x.md -> denied\n"
	  "rename bin -> denied\n"
	  "rename bin/g -> allowed\n"
	  "rename work-evil -> allowed\n"
	  "delete work/sub -> allowed\n"
	  "create work/sub/new -> allowed\n" },
	{ "nor from under a protection or a lock",
	  "[sandbox]\ninclude = none, ./sub/inside.ini\nworkspace = .\n",
	  "rename work/.git -> protected\n"
	  "rename work/.config/ -> protected\n"
	  "rename work/.git/index -> allowed\n"
	  "rename work/fresh/.git -> allowed\n"
	  "rename sub -> read_only\n"
	  "rename work/sub -> allowed\n" },
	{ "a file that stands for a repository is protected, a folder is not",
	  "[sandbox]\ninclude = none\nworkspace = .\n",
	  "write module/.git -> protected\n"
	  "delete module/.git -> protected\n"
	  "create work/.git/index -> allowed\n"
	  "change work/.git -> allowed\n" },
	{ "rules on '/' reach everywhere", ALONE "[paths]\nread = /\ndeny = ./work\n",
	  "read / -> allowed\n"
	  "read /etc/hostname -> allowed\n"
	  "read work/f -> denied\n"
	  "write /etc/hostname -> read_only\n" },
};

static char *build_name(const char *suffix, size_t bytes)
{
	char *text = malloc(bytes + 1);

	if (!text)
		BAIL_OUT("out of memory");
	memset(text, 'x', bytes);
	text[bytes] = '\0';
	return tree_file(suffix, text, 0644), text;
}

static void build(void)
{
	static const char *const files[] = { "work/f",
					     "work-evil/f",
					     "workshop",
					     "notes.md",
					     "sub/here/x",
					     "work/sub/deep/leaf",
					     "odd*name",
					     "work/.git/config",
					     "work/secrets/public/x",
					     "bin/f",
					     "ro/f",
					     "docs/x.md",
					     "module/.git" };

	tree_begin();
	for (size_t i = 0; i < COUNT(files); i++)
		tree_file(files[i], "text", 0644);
	tree_file("work/tool", "#!/bin/sh\n", 0755);
	tree_dir("work/.git/hooks");
	tree_dir("work/fresh");
	tree_link("link", "work");
	tree_link("work/out", "../work-evil");
	tree_file("more.ini", "[sandbox]\ninclude = ./even-more.ini\n", 0600);
	tree_file("even-more.ini", "[limits]\ntimeout = 5s\n", 0600);
	tree_file("shown.ini", "[limits]\ncpu = 5s\n", 0600);
	tree_link("alias.ini", "shown.ini");
	tree_file("sub/inside.ini", "[paths]\nread = ./here\n", 0600);
	free(build_name("work/report.md", 100));
	free(build_name("work/exact.md", 1024));
	free(build_name("work/big.md", 1025));
}

/* The code of the answer to "OP TARGET" or "raw OP PATH". */
static const char *answer(const struct sbx_policy *policy, const char *question)
{
	static struct sbx_asked asked;

	if (!strncmp(question, "raw ", 4)) {
		const char *target;
		struct sbx_request request = { .size = -1 };
		struct sbx_verdict verdict;

		request.op = (enum sbx_op)sbx_case_split(question + 4, &target);
		request.path = tree_path(target + 1);
		sbx_eval(sbx_policy_image(policy), &request, &verdict);
		return sbx_code_name((enum sbx_code)verdict.code);
	}
	if (load_ask(policy, question, &asked) < 0)
		return asked.why;
	return sbx_code_name((enum sbx_code)asked.verdict.code);
}

/* Takes the next "QUESTION -> CODE" off 'asks'. */
static bool next_ask(const char **asks, char question[256], char code[32])
{
	const char *arrow = strstr(*asks, " -> ");
	const char *end = arrow ? strchr(arrow, '\n') : NULL;

	if (!end)
		return false;
	snprintf(question, 256, "%.*s", (int)(arrow - *asks), *asks);
	snprintf(code, 32, "%.*s", (int)(end - arrow - 4), arrow + 4);
	*asks = end + 1;
	return true;
}

/* A policy in pieces that can stand in any order: "[paths]\nread = ./x\n", or a whole [path]. */
struct pieces {
	char list[MAX_LINES][512];
	size_t count;
};

static void take_apart(const char *policy, struct pieces *pieces)
{
	char section[64] = "";

	pieces->count = 0;
	while (*policy) {
		int len = (int)(strchr(policy, '\n') - policy) + 1;
		char *piece = pieces->list[pieces->count];

		if (*policy == '[') {
			snprintf(section, sizeof(section), "%.*s", len, policy);
			if (!strncmp(section, "[path ", 6)) {
				snprintf(piece, 512, "%s", section);
				pieces->count++;
			}
		} else if (!strncmp(section, "[path ", 6)) {
			size_t used = strlen(piece - 512);

			snprintf(piece - 512 + used, 512 - used, "%.*s", len, policy);
		} else {
			snprintf(piece, 512, "%s%.*s", section, len, policy);
			pieces->count++;
		}
		policy += len;
	}
}

static void shuffle(const char *policy, char *out, size_t size)
{
	static struct pieces pieces;
	size_t used = 0;

	take_apart(policy, &pieces);
	while (pieces.count > 0) {
		size_t pick = (size_t)rand() % pieces.count;

		used += (size_t)snprintf(out + used, size - used, "%s", pieces.list[pick]);
		memmove(pieces.list[pick], pieces.list[pick + 1],
			(--pieces.count - pick) * sizeof(pieces.list[0]));
	}
}

static void check_group(size_t group)
{
	struct sbx_policy *policy = load_text(groups[group].policy);
	const char *asks = groups[group].asks;
	char question[256], code[32];

	while (next_ask(&asks, question, code))
		is(answer(policy, question), code, "%s: %s", groups[group].name, question);
	sbx_free(policy);
}

/* Counts the questions that another order of lines answers differently. */
static void check_orders(size_t group)
{
	char text[4096], question[256], code[32];
	int wrong = 0;

	for (int i = 0; i < SHUFFLES; i++) {
		const char *asks = groups[group].asks;
		struct sbx_policy *policy;

		shuffle(groups[group].policy, text, sizeof(text));
		policy = load_text(text);
		while (next_ask(&asks, question, code)) {
			if (!strcmp(answer(policy, question), code))
				continue;
			wrong++;
			diag("%s is not %s in\n%s", question, code, text);
		}
		sbx_free(policy);
	}
	cmp_ok(wrong, "==", 0, "%s, in whatever order the lines stand", groups[group].name);
}

static void check_rename(void)
{
	static const struct {
		const char *from, *to, *code;
		const char *name;
	} cases[] = {
		{ "work/f", "work/g", "allowed", "a rename within a folder is allowed" },
		{ "work/f", "work/sub/g", "allowed", "a move to a place with the same rights is" },
		{ "work/f", "ro/g", "read_only", "a move to where nothing can be created is not" },
		{ "work/f", "gone/g", "hidden", "nor one into a hidden place" },
		{ "ro/f", "work/g", "read_only", "nor one out of a read-only place" },
		{ "work/f", "bin/g", "refer", "a move must not gain rights" },
		{ "bin/f", "work/g", "allowed", "but may lose them" },
		{ "work/x", "docs/x", "suffix", "the new name must have an allowed suffix" },
		{ "work/x", "docs/x.md", "allowed", "and then may be used" },
		{ "work/f", "work/.bashrc", "protected", "a protected name cannot be taken" },
		{ "work/.bashrc", "work/f", "protected", "nor given up" },
		{ "work/f", "policy.ini", "read_only", "nor can the policy be replaced" },
	};
	struct sbx_policy *policy =
		load_text(ALONE "[paths]\nwrite = .\nexec = ./bin\nhide = ./gone\n"
				"[path ro]\nroot = ./ro\nmode = ro\n"
				"[path docs]\nroot = ./docs\nmode = rw\nsuffixes = .md\n");

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sbx_request request = { .op = SBX_OP_RENAME,
					       .size = -1,
					       .path = tree_path(cases[i].from),
					       .to = tree_path(cases[i].to) };
		struct sbx_verdict verdict;

		sbx_eval(sbx_policy_image(policy), &request, &verdict);
		is(sbx_code_name((enum sbx_code)verdict.code), cases[i].code, "%s (%s to %s)",
		   cases[i].name, cases[i].from, cases[i].to);
	}
	sbx_free(policy);
}

#define PRIVATE "/run/sbx-private"

static struct sbx_policy *load_private(const char *text)
{
	const char *file = "policy.ini";
	const struct sbx_load load = {
		.files = &file, .file_count = 1, .cwd = tree_root, .private_tmp = PRIVATE
	};
	struct sbx_policy *policy;
	struct sbx_errors errors;

	(void)unlink(tree_path(file));
	(void)tree_file(file, text, 0600);
	if (sbx_load(&load, &policy, &errors) < 0)
		BAIL_OUT("%s in\n%s", errors.list[0].text, text);
	return policy;
}

/* Absolute, or below the tree. */
static const char *place(const char *path)
{
	return path[0] == '/' ? path : tree_path(path);
}

/* A folder brings along what is in it. */
static void check_folder_moves(void)
{
	static const struct {
		const char *from, *to, *code;
		bool new_repo;
		const char *name;
	} cases[] = {
		{ "work/x", "docs/x.md", "refer", false, "a folder enters no section by its name" },
		{ "docs/x", "docs/y", "allowed", false, "but may move within one" },
		{ "work/x", "plain/x", "allowed", false, "and into one without conditions" },
		{ "work/x", "cfg/x", "refer", false, "nor does it go where more may be denied" },
		{ "cfg/x", "cfg/y/x", "allowed", false, "but may move where the same is denied" },
		{ "work/x", "work/y/x", "allowed", false, "or nothing is" },
		{ PRIVATE "/x", "work/x", "refer", false, "what is not protected must be copied" },
		{ PRIVATE "/x", PRIVATE "/y", "allowed", false, "or stay where nothing is" },
		{ "work/x", PRIVATE "/x", "allowed", false, "or go there" },
		{ PRIVATE "/x", "work/x", "refer", true, "a new repository protects the rest" },
		{ "work/x", "work/.git/modules/x", "refer", false, "a repository gets no part" },
		{ "work/x", "work/.git/modules/x", "allowed", true, "but a new one does" },
		{ "work/.git/modules/x", "work/.git/modules/y", "allowed", false,
		  "parts of one may be renamed" },
	};
	struct sbx_policy *policy =
		load_private(ALONE "[paths]\nwrite = .\ndeny = ./cfg/**/key\n"
				   "[path plain]\nroot = ./plain\nmode = rw\n"
				   "[path docs]\nroot = ./docs\nmode = rw\nsuffixes = .md\n");

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sbx_request request = { .op = SBX_OP_RENAME,
					       .is_dir = true,
					       .new_repo = cases[i].new_repo,
					       .size = -1,
					       .path = place(cases[i].from),
					       .to = place(cases[i].to) };
		struct sbx_verdict verdict;

		sbx_eval(sbx_policy_image(policy), &request, &verdict);
		is(sbx_code_name((enum sbx_code)verdict.code), cases[i].code, "%s (%s to %s)",
		   cases[i].name, cases[i].from, cases[i].to);
	}
	sbx_free(policy);
}

/* A file that is moved has a size that nobody asked for, or one that fits. */
static void check_sized_move(void)
{
	struct sbx_policy *policy = load_text(ALONE "[paths]\nwrite = .\n[path docs]\n"
						    "root = ./docs\nmode = rw\n"
						    "max_file_bytes = 1K\n");
	struct sbx_request request = { .op = SBX_OP_RENAME,
				       .size = -1,
				       .path = tree_path("work/f"),
				       .to = tree_path("docs/f") };
	struct sbx_verdict verdict;

	sbx_eval(sbx_policy_image(policy), &request, &verdict);
	is(sbx_code_name((enum sbx_code)verdict.code), "refer", "a file of any size is copied");
	request.size = 10;
	sbx_eval(sbx_policy_image(policy), &request, &verdict);
	is(sbx_code_name((enum sbx_code)verdict.code), "allowed", "one that fits may be moved");
	request.path = tree_path("docs/g");
	request.size = -1;
	sbx_eval(sbx_policy_image(policy), &request, &verdict);
	is(sbx_code_name((enum sbx_code)verdict.code), "allowed", "as may any within the section");
	sbx_free(policy);
}

/* A link stands for whatever is where it leads. */
static void check_links(void)
{
	static const struct {
		const char *path, *code;
		const char *name;
	} cases[] = {
		{ "work/l", "allowed", "a link may be made" },
		{ "work/.git/l", "allowed", "in a repository, too" },
		{ "work/.git/modules/l", "protected", "but not where parts of one are" },
		{ "work/.git/modules/a/b/l", "protected", "or may be" },
		{ "work/.git/hooks", "protected", "nor for one" },
		{ PRIVATE "/.git/modules/l", "allowed", "it may where nothing is protected" },
	};
	struct sbx_policy *policy = load_private(ALONE "[paths]\nwrite = .\n");

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sbx_request request = { .op = SBX_OP_CREATE,
					       .is_link = true,
					       .missing = true,
					       .size = -1,
					       .path = place(cases[i].path) };
		struct sbx_verdict verdict;

		sbx_eval(sbx_policy_image(policy), &request, &verdict);
		is(sbx_code_name((enum sbx_code)verdict.code), cases[i].code, "%s (%s)",
		   cases[i].name, cases[i].path);
		request.is_link = false;
		sbx_eval(sbx_policy_image(policy), &request, &verdict);
		is(sbx_code_name((enum sbx_code)verdict.code),
		   strstr(cases[i].path, "hooks") ? "protected" : "allowed", "and as a file");
	}
	sbx_free(policy);
}

/* What is private lies in a folder that may be moved. */
static void check_private_moves(void)
{
	static const char *const codes[] = { "protected", "allowed" };
	static const char *const protect[] = { "", "protect = no\n" };

	for (size_t i = 0; i < COUNT(codes); i++) {
		struct sbx_request request = { .op = SBX_OP_RENAME,
					       .is_dir = true,
					       .size = -1,
					       .path = "/run",
					       .to = "/ran" };
		struct sbx_verdict verdict;
		struct sbx_policy *policy;
		char text[128];

		snprintf(text, sizeof(text), ALONE "%s[paths]\nwrite = /\n", protect[i]);
		policy = load_private(text);
		sbx_eval(sbx_policy_image(policy), &request, &verdict);
		is(sbx_code_name((enum sbx_code)verdict.code), codes[i],
		   "a folder with private ones in it: %s", codes[i]);
		sbx_free(policy);
	}
}

/* Which rule decided: file, line and text of it. */
static void check_rules(void)
{
	static const struct {
		const char *question;
		unsigned int line; /* 0: no rule of the file */
		const char *text;
		const char *name;
	} cases[] = {
		{ "read work/f", 4, "read = ./work", "the rule that grants is named" },
		{ "read work/sub/x", 5, "deny = ./work/sub", "so is the rule that denies" },
		{ "write work/f", 4, "read = ./work", "so is the one that grants too little" },
		{ "read work/sub/deep/x", 8, "mode = rw in [path deep]", "so is a section's mode" },
		{ "create work/sub/deep/.npmrc", 0, ".npmrc", "so is a protection" },
		{ "read work-evil/f", 0, NULL, "where no rule matches there is none" },
		{ "exec work/tool", 4, "read = ./work",
		  "what cannot be executed can be read by it" },
	};
	struct sbx_policy *policy =
		load_text(ALONE "[paths]\nread = ./work\ndeny = ./work/sub\n"
				"[path deep]\nroot = ./work/sub/deep\nmode = rw\n");
	const struct sbx_image *image = sbx_policy_image(policy);

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct sbx_rule *rule;
		struct sbx_asked asked;

		(void)load_ask(policy, cases[i].question, &asked);
		rule = asked.verdict.rule == SBX_NONE ? NULL
						      : &sbx_rules(image)[asked.verdict.rule];
		is(rule ? sbx_str(image, rule->text) : NULL, cases[i].text, "%s: %s", cases[i].name,
		   cases[i].question);
		cmp_ok(rule ? rule->line : 0, "==", cases[i].line, "with its line");
	}
	sbx_free(policy);
}

static bool complains(const struct sbx_policy *policy, const char *question)
{
	struct sbx_asked asked;

	if (load_ask(policy, question, &asked) < 0)
		BAIL_OUT("%s: %s", question, asked.why);
	return asked.verdict.flags & SBX_VERDICT_COMPLAIN;
}

static void check_complain(void)
{
	struct sbx_policy *policy = load_text(ALONE "complain = paths\n[paths]\nread = ./work\n");
	struct sbx_asked asked;

	ok(complains(policy, "write work/f"), "complain = paths: a refused write is only reported");
	ok(complains(policy, "read work-evil/f"), "and so is a refused read");
	ok(!complains(policy, "read work/f"), "what is allowed is no complaint");
	ok(!complains(policy, "exec work/tool"), "a refused program is refused");
	ok(!complains(policy, "connect example.com:443"), "and so is a destination");
	(void)load_ask(policy, "write work/f", &asked);
	ok(!asked.verdict.allowed && asked.verdict.error == EACCES,
	   "the verdict itself stays the same");
	sbx_free(policy);
	policy = load_text(ALONE "complain = exec, network\n");
	ok(!complains(policy, "write work/f"), "complain = exec, network: a write is refused");
	ok(complains(policy, "exec work/tool"), "a program is reported");
	ok(complains(policy, "connect example.com:443"), "a destination is reported");
	ok(complains(policy, "lookup example.com"), "a name is reported");
	ok(complains(policy, "connect unix:./work/socket"), "a socket is reported");
	sbx_free(policy);
}

static void explain(const struct sbx_policy *policy, const char *question, char text[SBX_TEXT_MAX])
{
	struct sbx_asked asked;
	struct sbx_report report;

	if (load_ask(policy, question, &asked) < 0)
		BAIL_OUT("%s: %s", question, asked.why);
	report = sbx_asked_report(sbx_policy_image(policy), &asked);
	(void)sbx_words_text(&report, text, SBX_TEXT_MAX);
}

static void check_tmp(void)
{
	static const char *const places[] = { "/tmp/sbx-none", "/var/tmp/sbx-none",
					      "/dev/shm/sbx-none" };
	char text[SBX_TEXT_MAX], question[256];

	for (size_t i = 0; i < COUNT(places); i++) {
		struct sbx_policy *policy = load_text(ALONE);

		snprintf(question, sizeof(question), "create %s", places[i]);
		explain(policy, question, text);
		like(text, "Use \\$TMPDIR \\(/run/sbx-private\\) instead\\.",
		     "under private tmp a refused %s leads to TMPDIR", places[i]);
		sbx_free(policy);
		policy = load_text(ALONE "tmp = shared\n");
		explain(policy, question, text);
		unlike(text, "TMPDIR", "under shared tmp it does not (%s)", places[i]);
		sbx_free(policy);
	}
}

/* What decides about a path that stands in memory of its own size: the rule's path, or "". */
static const char *decides(const struct sbx_image *image, const char *path)
{
	char *copy = strdup(path);
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = copy };
	struct sbx_verdict verdict;

	if (!copy)
		BAIL_OUT("out of memory");
	sbx_eval(image, &request, &verdict);
	free(copy);
	return verdict.rule == SBX_NONE ? "" : sbx_str(image, sbx_rules(image)[verdict.rule].path);
}

/* Names are compared in blocks: those of all lengths, and their neighbours in every byte. */
static void check_lengths(const char *before, const char *way)
{
	enum {
		LONGEST = 70
	};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	char text[LONGEST * (LONGEST + 32)] = ALONE "[paths]\n", name[LONGEST + 1] = "";
	char rule[LONGEST + 32], path[LONGEST + 32];
	struct sbx_policy *policy;
	size_t used = strlen(text), start = strlen(way), wrong = 0;

	for (size_t len = 1; len <= LONGEST; len++) {
		name[len - 1] = letters[len % 26];
		used += (size_t)snprintf(text + used, sizeof(text) - used, "write = %s%s\n", before,
					 name);
	}
	policy = load_text(text);
	for (size_t len = 1; len <= LONGEST; len++) {
		snprintf(rule, sizeof(rule), "%s%.*s", before, (int)len, name);
		snprintf(path, sizeof(path), "%s%.*s", way, (int)len, name);
		wrong += strcmp(decides(sbx_policy_image(policy), path), rule) != 0;
		for (size_t i = start; i < start + len; i++) {
			path[i] ^= 0x80;
			wrong += *decides(sbx_policy_image(policy), path) != '\0';
			path[i] ^= 0x80;
		}
		memcpy(path + start + len, "/x/y", sizeof("/x/y"));
		wrong += strcmp(decides(sbx_policy_image(policy), path), rule) != 0;
	}
	cmp_ok(wrong, "==", 0, "%s and names of 1 to %d bytes are told apart", before, LONGEST);
	sbx_free(policy);
}

int main(void)
{
	plan(NO_PLAN);
	srand(1);
	build();
	for (size_t i = 0; i < COUNT(groups); i++) {
		check_group(i);
		check_orders(i);
	}
	check_rename();
	check_folder_moves();
	check_sized_move();
	check_links();
	check_private_moves();
	check_rules();
	check_complain();
	check_tmp();
	check_lengths("/", "/");
	check_lengths("/some/folder/", "//some/folder/./");
	check_lengths("/any/**/", "/any/where/");
	done_testing();
}
