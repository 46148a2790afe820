/* SPDX-License-Identifier: MIT */
/*
 * What policies mean for destinations, case by case: names by label, addresses by network, ports,
 * and what a name must not be able to lead to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NET ALONE "[network]\n"

/*
 * Questions are lines "OP TARGET -> CODE". "NAME=ADDRESS:PORT" is what a program does that looked
 * NAME up and got ADDRESS.
 */
static const struct {
	const char *name;
	const char *policy;
	const char *asks;
} groups[] = {
	{ "an empty list is no network", ALONE,
	  "connect example.com:443 -> network_off\n"
	  "connect 93.184.216.34:443 -> network_off\n"
	  "connect [2606:2800:220:1::1]:443 -> network_off\n"
	  "connect localhost:80 -> network_off\n"
	  "connect 127.0.0.1:80 -> network_off\n"
	  "lookup example.com -> network_off\n"
	  "lookup localhost -> allowed\n"
	  "bind 0.0.0.0:8080 -> network_off\n"
	  "bind 127.0.0.1:80 -> network_off\n" },
	{ "'mode = none' is no network", NET "mode = none\n",
	  "connect example.com:443 -> network_off\n"
	  "lookup example.com -> network_off\n" },
	{ "'mode = filtered' without a list allows nothing", NET "mode = filtered\n",
	  "connect example.com:443 -> destination\n"
	  "connect 93.184.216.34:443 -> destination\n"
	  "lookup example.com -> name\n"
	  "bind 0.0.0.0:8080 -> bind\n" },
	{ "'mode = full' allows all", NET "mode = full\n",
	  "connect example.com:443 -> allowed\n"
	  "connect 127.0.0.1:22 -> allowed\n"
	  "connect evil=169.254.169.254:80 -> allowed\n"
	  "lookup example.com -> allowed\n"
	  "bind 0.0.0.0:80 -> allowed\n"
	  "connect unix:./socket -> allowed\n" },
	{ "a listed destination turns the filter on", NET "connect = example.com:443\n",
	  "connect example.com:443 -> allowed\n"
	  "connect example.org:443 -> destination\n"
	  "connect 93.184.216.34:443 -> destination\n"
	  "connect example.com=93.184.216.34:443 -> allowed\n"
	  "connect example.org=93.184.216.34:443 -> destination\n" },
	{ "hosts are compared by label", NET "connect = example.com:443\n",
	  "connect notexample.com:443 -> destination\n"
	  "connect www.example.com:443 -> destination\n"
	  "connect example.com.evil:443 -> destination\n"
	  "connect example.co:443 -> destination\n"
	  "connect com:443 -> destination\n"
	  "connect example-com:443 -> destination\n" },
	{ "'*.x' is the subdomains of x, and not x", NET "connect = *.example.org:443\n",
	  "connect a.example.org:443 -> allowed\n"
	  "connect a.b.c.example.org:443 -> allowed\n"
	  "connect example.org:443 -> destination\n"
	  "connect aexample.org:443 -> destination\n"
	  "connect a.example.org.evil:443 -> destination\n"
	  "connect example.org.a:443 -> destination\n"
	  "connect org:443 -> destination\n" },
	{ "case and one dot at the end do not matter", NET "connect = API.GitHub.com:443\n",
	  "connect api.github.com:443 -> allowed\n"
	  "connect API.GITHUB.COM:443 -> allowed\n"
	  "connect api.github.com.:443 -> allowed\n"
	  "lookup Api.Github.Com. -> allowed\n" },
	{ "nor do they in the policy", NET "connect = *.Example.ORG.:443\n",
	  "connect a.example.org:443 -> allowed\n"
	  "connect A.EXAMPLE.org.:443 -> allowed\n" },
	{ "a port is one port", NET "connect = example.com:443\n",
	  "connect example.com:443 -> allowed\n"
	  "connect example.com:442 -> destination\n"
	  "connect example.com:444 -> destination\n"
	  "connect example.com:44 -> destination\n"
	  "connect example.com:4433 -> destination\n" },
	{ "a range has both its ends", NET "connect = example.com:8000-8100\n",
	  "connect example.com:7999 -> destination\n"
	  "connect example.com:8000 -> allowed\n"
	  "connect example.com:8050 -> allowed\n"
	  "connect example.com:8100 -> allowed\n"
	  "connect example.com:8101 -> destination\n" },
	{ "':*' is every port", NET "connect = example.com:*\n",
	  "connect example.com:1 -> allowed\n"
	  "connect example.com:65535 -> allowed\n" },
	{ "ports of several rules add up",
	  NET "connect = a.example:80, a.example:443, *.example:22\n",
	  "connect a.example:80 -> allowed\n"
	  "connect a.example:443 -> allowed\n"
	  "connect a.example:22 -> allowed\n"
	  "connect a.example:25 -> destination\n"
	  "connect b.example:80 -> destination\n" },
	{ "a network is its addresses, at its bits", NET "connect = 10.0.0.0/8:5432\n",
	  "connect 10.0.0.0:5432 -> allowed\n"
	  "connect 10.255.255.255:5432 -> allowed\n"
	  "connect 11.0.0.0:5432 -> destination\n"
	  "connect 9.255.255.255:5432 -> destination\n"
	  "connect 10.1.2.3:5433 -> destination\n" },
	{ "networks need not end at a dot", NET "connect = 172.16.0.0/12:80, 192.168.1.128/25:80\n",
	  "connect 172.31.255.255:80 -> allowed\n"
	  "connect 172.32.0.0:80 -> destination\n"
	  "connect 192.168.1.128:80 -> allowed\n"
	  "connect 192.168.1.127:80 -> destination\n" },
	{ "one address is one address", NET "connect = 93.184.216.34:443\n",
	  "connect 93.184.216.34:443 -> allowed\n"
	  "connect 93.184.216.35:443 -> destination\n"
	  "connect example.com=93.184.216.34:443 -> allowed\n"
	  "connect example.com:443 -> destination\n" },
	{ "all of IPv4 is a network too", NET "connect = 0.0.0.0/0:443\n",
	  "connect 1.1.1.1:443 -> allowed\n"
	  "connect 10.0.0.1:443 -> allowed\n"
	  "connect [2001:db8::1]:443 -> destination\n" },
	{ "IPv6 networks", NET "connect = [2001:db8::/32]:443, [fd00::1]:80\n",
	  "connect [2001:db8:ffff::1]:443 -> allowed\n"
	  "connect [2001:db9::1]:443 -> destination\n"
	  "connect [fd00::1]:80 -> allowed\n"
	  "connect [fd00::2]:80 -> destination\n"
	  "connect 10.0.0.1:80 -> destination\n" },
	{ "IPv4 dressed as IPv6 is IPv4", NET "connect = 10.0.0.0/8:80\ndeny = 10.9.0.0/16:*\n",
	  "connect [::ffff:10.1.2.3]:80 -> allowed\n"
	  "connect [::ffff:a01:203]:80 -> allowed\n"
	  "connect [::ffff:11.1.2.3]:80 -> destination\n"
	  "connect [::ffff:10.9.2.3]:80 -> denied\n"
	  "connect x=::ffff:10.1.2.3:80 -> allowed\n"
	  "connect x=::ffff:10.9.2.3:80 -> denied\n" },
	{ "a mapped address in the policy is IPv4 as well",
	  NET "connect = [::ffff:10.1.2.3]:80, [::ffff:192.168.0.0/112]:80\n",
	  "connect 10.1.2.3:80 -> allowed\n"
	  "connect 192.168.7.7:80 -> allowed\n"
	  "connect 10.1.2.4:80 -> destination\n" },
	{ "'localhost' is 127.0.0.0/8 and ::1, by every name", NET "connect = localhost:6379\n",
	  "connect localhost:6379 -> allowed\n"
	  "connect LOCALHOST.:6379 -> allowed\n"
	  "connect 127.0.0.1:6379 -> allowed\n"
	  "connect 127.255.0.9:6379 -> allowed\n"
	  "connect [::1]:6379 -> allowed\n"
	  "connect [::ffff:127.0.0.1]:6379 -> allowed\n"
	  "connect localhost=127.0.0.1:6379 -> allowed\n"
	  "connect localhost=::1:6379 -> allowed\n"
	  "connect 127.0.0.1:6380 -> destination\n"
	  "connect 128.0.0.1:6379 -> destination\n"
	  "connect [::2]:6379 -> destination\n"
	  "connect localhost.example:6379 -> destination\n" },
	{ "to connect to 'any' is to connect to this host", NET "connect = localhost:80\n",
	  "connect 0.0.0.0:80 -> allowed\n"
	  "connect [::]:80 -> allowed\n"
	  "connect [::ffff:0.0.0.0]:80 -> allowed\n"
	  "connect 0.0.0.0:81 -> destination\n" },
	{ "and is refused where this host is", NET "connect = *:80\ndeny = localhost:*\n",
	  "connect 0.0.0.0:80 -> denied\n"
	  "connect [::]:80 -> denied\n"
	  "connect 127.0.0.1:80 -> denied\n"
	  "connect [::1]:80 -> denied\n"
	  "connect [::ffff:127.0.0.1]:80 -> denied\n"
	  "connect localhost:80 -> denied\n"
	  "connect evil.example=127.0.0.1:80 -> denied\n"
	  "connect 93.184.216.34:80 -> allowed\n" },
	{ "a rule for 127.0.0.1 alone is not one for ::1", NET "connect = 127.0.0.1:80\n",
	  "connect 127.0.0.1:80 -> allowed\n"
	  "connect 0.0.0.0:80 -> allowed\n"
	  "connect 127.0.0.2:80 -> destination\n"
	  "connect [::1]:80 -> destination\n"
	  "connect [::]:80 -> destination\n" },
	{ "deny wins, whatever is listed and however narrowly",
	  NET "connect = *.example.org:443, bad.example.org:443, 10.0.0.0/8:*, 10.1.2.3:80\n"
	      "deny = bad.example.org:*, 10.1.0.0/16:80\n",
	  "connect good.example.org:443 -> allowed\n"
	  "connect bad.example.org:443 -> denied\n"
	  "connect 10.1.2.3:80 -> denied\n"
	  "connect 10.1.2.3:81 -> allowed\n"
	  "connect 10.2.2.3:80 -> allowed\n" },
	{ "deny holds for subdomains only where it says so",
	  NET "connect = *:443\ndeny = *.tracker.example:443, ads.example:443\n",
	  "connect a.tracker.example:443 -> denied\n"
	  "connect tracker.example:443 -> allowed\n"
	  "connect ads.example:443 -> denied\n"
	  "connect x.ads.example:443 -> allowed\n" },
	{ "a denied port is denied everywhere", NET "connect = mail.example:*\ndeny = *:25\n",
	  "connect mail.example:25 -> denied\n"
	  "connect mail.example:587 -> allowed\n"
	  "connect 10.0.0.1:25 -> denied\n"
	  "lookup mail.example -> allowed\n" },
	{ "an allowed name does not reach a denied address",
	  NET "connect = example.com:443\ndeny = 93.184.0.0/16:*\n",
	  "connect example.com=93.184.216.34:443 -> denied\n"
	  "connect example.com=93.185.216.34:443 -> allowed\n" },
	{ "a name that leads to a private address is refused", NET "connect = db.example:5432\n",
	  "connect db.example=8.8.8.8:5432 -> allowed\n"
	  "connect db.example=10.1.2.3:5432 -> private_address\n"
	  "connect db.example=127.0.0.1:5432 -> private_address\n"
	  "connect db.example=0.0.0.0:5432 -> private_address\n"
	  "connect db.example=169.254.169.254:5432 -> private_address\n"
	  "connect db.example=192.168.1.1:5432 -> private_address\n"
	  "connect db.example=172.16.0.1:5432 -> private_address\n"
	  "connect db.example=100.64.0.1:5432 -> private_address\n"
	  "connect db.example=224.0.0.1:5432 -> private_address\n"
	  "connect db.example=255.255.255.255:5432 -> private_address\n"
	  "connect db.example=::1:5432 -> private_address\n"
	  "connect db.example=:::5432 -> private_address\n"
	  "connect db.example=fe80::1:5432 -> private_address\n"
	  "connect db.example=fd12::1:5432 -> private_address\n"
	  "connect db.example=::ffff:10.1.2.3:5432 -> private_address\n"
	  "connect db.example=64:ff9b::a01:203:5432 -> private_address\n"
	  "connect db.example=2002:a01:203::1:5432 -> private_address\n"
	  "connect db.example=2606:4700::1:5432 -> allowed\n"
	  "connect db.example=10.1.2.3:80 -> destination\n" },
	{ "a rule for the address lets a name lead there",
	  NET "connect = db.example:5432, 10.0.0.0/8:5432\n",
	  "connect db.example=10.1.2.3:5432 -> allowed\n"
	  "connect db.example=192.168.1.1:5432 -> private_address\n"
	  "connect other.example=10.1.2.3:5432 -> allowed\n" },
	{ "'*:443' is every public destination", NET "connect = *:443\n",
	  "connect example.com:443 -> allowed\n"
	  "connect 93.184.216.34:443 -> allowed\n"
	  "connect [2606:2800:220:1::1]:443 -> allowed\n"
	  "connect example.com:80 -> destination\n"
	  "connect 10.0.0.1:443 -> destination\n"
	  "connect 127.0.0.1:443 -> destination\n"
	  "connect 169.254.169.254:443 -> destination\n"
	  "connect [::1]:443 -> destination\n"
	  "connect evil.example=169.254.169.254:443 -> private_address\n"
	  "lookup anything.example -> allowed\n" },
	{ "names are looked up that could be connected to",
	  NET "connect = api.example:443, *.cdn.example:*, 10.0.0.0/8:80\n",
	  "lookup api.example -> allowed\n"
	  "lookup a.cdn.example -> allowed\n"
	  "lookup cdn.example -> name\n"
	  "lookup x.api.example -> name\n"
	  "lookup example -> name\n"
	  "lookup localhost -> allowed\n" },
	{ "a name that is denied on all ports is not looked up",
	  NET "connect = *:443\ndeny = bad.example:*, half.example:80\n",
	  "lookup bad.example -> denied\n"
	  "lookup half.example -> allowed\n" },
	{ "a program may listen for itself", ALONE,
	  "bind 127.0.0.1:1024 -> allowed\n"
	  "bind 127.0.0.1:0 -> allowed\n"
	  "bind 127.9.9.9:8080 -> allowed\n"
	  "bind [::1]:8080 -> allowed\n"
	  "bind [::ffff:127.0.0.1]:8080 -> allowed\n"
	  "bind localhost:8080 -> allowed\n"
	  "bind 127.0.0.1:1023 -> network_off\n"
	  "bind 0.0.0.0:8080 -> network_off\n"
	  "bind [::]:8080 -> network_off\n"
	  "bind 10.0.0.1:8080 -> network_off\n"
	  "connect 127.0.0.1:8080 -> network_off\n" },
	{ "'own = no' takes that away", NET "own = no\n",
	  "bind 127.0.0.1:8080 -> network_off\n"
	  "bind 127.0.0.1:0 -> network_off\n" },
	{ "and so does deny", NET "deny = localhost:8080\n",
	  "bind 127.0.0.1:8080 -> denied\n"
	  "bind 127.0.0.1:8081 -> allowed\n" },
	{ "listed addresses can be listened on", NET "bind = 127.0.0.1:80, 0.0.0.0:8080\n",
	  "bind 127.0.0.1:80 -> allowed\n"
	  "bind 0.0.0.0:8080 -> allowed\n"
	  "bind 127.0.0.1:81 -> bind\n"
	  "bind 0.0.0.0:80 -> bind\n"
	  "bind [::]:8080 -> bind\n"
	  "bind 10.0.0.1:8080 -> bind\n"
	  "connect 127.0.0.1:80 -> destination\n" },
	{ "'bind = *' and 'bind = localhost'", NET "bind = *:8080, localhost:80\n",
	  "bind 0.0.0.0:8080 -> allowed\n"
	  "bind [::]:8080 -> allowed\n"
	  "bind 10.1.1.1:8080 -> allowed\n"
	  "bind 127.0.0.5:80 -> allowed\n"
	  "bind [::1]:80 -> allowed\n"
	  "bind 0.0.0.0:80 -> bind\n" },
	{ "deny holds for listening too", NET "bind = *:8000-9000\ndeny = 0.0.0.0:*\n",
	  "bind 10.1.1.1:8080 -> allowed\n"
	  "bind 0.0.0.0:8080 -> denied\n" },
	{ "connect is not bind", NET "connect = 127.0.0.1:80, *:443\n",
	  "bind 127.0.0.1:80 -> bind\n"
	  "bind 0.0.0.0:443 -> bind\n" },
	{ "a proxy is allowed, and only that", NET "proxy = http://proxy.example:3128\n",
	  "connect proxy.example:3128 -> allowed\n"
	  "connect proxy.example:80 -> destination\n"
	  "connect example.com:443 -> destination\n"
	  "lookup proxy.example -> allowed\n"
	  "lookup example.com -> name\n" },
	{ "a proxy may have an address", NET "proxy = http://127.0.0.1:3128\n",
	  "connect 127.0.0.1:3128 -> allowed\n"
	  "connect 127.0.0.1:3129 -> destination\n" },
	{ "a proxy's port may be left to its scheme", NET "proxy = https://proxy.example\n",
	  "connect proxy.example:443 -> allowed\n"
	  "connect proxy.example:80 -> destination\n" },
	{ "a proxy may have a password and IPv6", NET "proxy = http://me:pw@[fd00::1]:8080/\n",
	  "connect [fd00::1]:8080 -> allowed\n"
	  "connect [fd00::1]:80 -> destination\n" },
	{ "deny wins over the proxy", NET "proxy = http://proxy.example:3128\ndeny = *:3128\n",
	  "connect proxy.example:3128 -> denied\n" },
};

/* "NAME=ADDRESS:PORT" as what a supervisor knows about a connect. */
static const char *answer_pair(const struct sbx_policy *policy, const char *target)
{
	const char *equals = strchr(target, '='), *colon = strrchr(target, ':');
	struct sbx_request request = { .op = SBX_OP_CONNECT, .size = -1 };
	struct sbx_verdict verdict;
	char host[SBX_HOST_MAX];

	if (sbx_host_normalize(target, (size_t)(equals - target), host) ||
	    !sbx_addr_parse(equals + 1, (size_t)(colon - equals - 1), &request.addr))
		BAIL_OUT("'%s' is no name and address", target);
	request.host = host;
	request.port = (uint16_t)strtoul(colon + 1, NULL, 10);
	sbx_eval(sbx_policy_image(policy), &request, &verdict);
	return sbx_code_name((enum sbx_code)verdict.code);
}

static const char *answer(const struct sbx_policy *policy, const char *question)
{
	static struct sbx_asked asked;

	if (strchr(question, '='))
		return answer_pair(policy, strchr(question, ' ') + 1);
	if (load_ask(policy, question, &asked) < 0)
		return asked.why;
	return sbx_code_name((enum sbx_code)asked.verdict.code);
}

static void check_group(size_t group)
{
	struct sbx_policy *policy = load_text(groups[group].policy);
	const char *asks = groups[group].asks;
	char question[256], code[32];

	for (const char *arrow; (arrow = strstr(asks, " -> ")); asks = strchr(arrow, '\n') + 1) {
		snprintf(question, sizeof(question), "%.*s", (int)(arrow - asks), asks);
		snprintf(code, sizeof(code), "%.*s", (int)strcspn(arrow + 4, "\n"), arrow + 4);
		is(answer(policy, question), code, "%s: %s", groups[group].name, question);
	}
	sbx_free(policy);
}

/* What comes from the kernel is not normalized: mapped addresses keep their family. */
static void check_raw_addresses(void)
{
	struct sbx_policy *policy = load_text(NET "connect = 10.0.0.0/8:80, name.example:80\n");
	struct sbx_request request = { .op = SBX_OP_CONNECT, .port = 80, .size = -1 };
	struct sbx_verdict verdict;

	request.addr = (struct sbx_addr){ 6, { [10] = 0xff, 0xff, 10, 1, 2, 3 } };
	sbx_eval(sbx_policy_image(policy), &request, &verdict);
	ok(verdict.allowed, "a mapped address in 16 bytes is matched as IPv4");
	request.addr = (struct sbx_addr){ 6, { [10] = 0xff, 0xff, 192, 168, 2, 3 } };
	request.host = "name.example";
	sbx_eval(sbx_policy_image(policy), &request, &verdict);
	is(sbx_code_name((enum sbx_code)verdict.code), "private_address",
	   "and is as private as IPv4");
	request.addr = (struct sbx_addr){ .family = 0 };
	sbx_eval(sbx_policy_image(policy), &request, &verdict);
	ok(verdict.allowed, "a name whose address is not known yet is judged by name");
	request.host = NULL;
	sbx_eval(sbx_policy_image(policy), &request, &verdict);
	ok(!verdict.allowed, "nothing at all is not allowed");
	sbx_free(policy);
}

static void check_verdicts(void)
{
	struct sbx_policy *policy =
		load_text(NET "connect = example.com:443, 10.0.0.0/8:80\ndeny = *:25\n");
	const struct sbx_image *image = sbx_policy_image(policy);
	struct sbx_asked asked;

	(void)load_ask(policy, "connect example.com:443", &asked);
	cmp_ok(sbx_rules(image)[asked.verdict.rule].line, "==", 4, "the rule that allows is named");
	(void)load_ask(policy, "connect example.com:25", &asked);
	is(sbx_str(image, sbx_rules(image)[asked.verdict.rule].text), "deny = *:25",
	   "and the one that denies");
	cmp_ok(asked.verdict.error, "==", EACCES, "with EACCES");
	(void)load_ask(policy, "connect example.org:443", &asked);
	cmp_ok(asked.verdict.rule, "==", SBX_NONE, "where none matches, none is");
	(void)load_ask(policy, "lookup example.org", &asked);
	cmp_ok(asked.verdict.error, "==", ENOENT, "a name that is refused does not exist");
	(void)load_ask(policy, "bind 127.0.0.1:8080", &asked);
	ok(asked.verdict.allowed && (asked.verdict.flags & SBX_VERDICT_OWN),
	   "what 'own' allows is marked");
	sbx_free(policy);
}

/* What Landlock makes of it. */
static bool is_held(const char *policy_text, const char *question)
{
	struct sbx_policy *policy = load_text(policy_text);
	struct sbx_asked asked;

	(void)load_ask(policy, question, &asked);
	sbx_eval_by_port(sbx_policy_image(policy), &asked.request, &asked.verdict);
	sbx_free(policy);
	return asked.verdict.allowed;
}

static void check_by_port(void)
{
	ok(is_held(NET, "bind 127.0.0.1:0") && is_held(NET, "bind 0.0.0.0:0"),
	   "by ports alone, one that the kernel chooses is allowed at every address");
	ok(!is_held(NET, "bind 127.0.0.1:8080"), "but none that the program chooses");
	ok(!is_held(NET "own = no\n", "bind 127.0.0.1:0"), "and none without 'own'");
	ok(!is_held(NET, "connect 127.0.0.1:8080"), "own listeners cannot be told apart");
	ok(is_held(NET "mode = full\n", "bind 127.0.0.1:8080"), "a full network is one");
}

static void check_mode_conflicts(void)
{
	static const struct {
		const char *policy;
		const char *error;
		const char *name;
	} cases[] = {
		{ NET "mode = none\nconnect = a:1\n", "'mode = none' contradicts 'connect = a:1'",
		  "no network beside a destination is an error that names both" },
		{ NET "mode = full\nbind = *:80\n", "'mode = full' contradicts 'bind = \\*:80'",
		  "so is all of it beside a listener" },
		{ NET "mode = none\nproxy = http://p:1\n", "'mode = none' contradicts 'proxy",
		  "so is none beside a proxy" },
		{ NET "mode = full\ndeny = *:25\n", "'mode = full' contradicts 'deny",
		  "so is all of it beside a denial, which could not be held" },
	};
	struct sbx_policy *policy = NULL;
	struct sbx_errors errors;

	for (size_t i = 0; i < COUNT(cases); i++) {
		cmp_ok(load_try(cases[i].policy, &policy, &errors), "==", -EINVAL, "%s",
		       cases[i].name);
		like(errors.list[0].text, cases[i].error, "in words");
	}
	policy = load_text(NET "mode = none\ndeny = *:25\n");
	ok(policy != NULL, "what is off may be denied as well");
	sbx_free(policy);
}

/* Many names share a table: each must still be found, and no other. */
static void check_many(void)
{
	static char text[200000];
	size_t used = (size_t)snprintf(text, sizeof(text), NET);
	struct sbx_policy *policy;
	int missed = 0, stray = 0;

	for (int i = 0; i < 3000; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "connect = h%d.example:%d, 10.%d.%d.0/24:%d\n", i,
					 1000 + i, i / 250, i % 250, 1000 + i);
	policy = load_text(text);
	for (int i = 0; i < 3000; i++) {
		char question[64];

		snprintf(question, sizeof(question), "connect h%d.example:%d", i, 1000 + i);
		missed += strcmp(answer(policy, question), "allowed") != 0;
		snprintf(question, sizeof(question), "connect 10.%d.%d.7:%d", i / 250, i % 250,
			 1000 + i);
		missed += strcmp(answer(policy, question), "allowed") != 0;
		snprintf(question, sizeof(question), "connect h%d.example:%d", i, 1001 + i);
		stray += strcmp(answer(policy, question), "destination") != 0;
	}
	cmp_ok(missed, "==", 0, "of 6,000 destinations each is found");
	cmp_ok(stray, "==", 0, "and its neighbour is not");
	sbx_free(policy);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	for (size_t i = 0; i < COUNT(groups); i++)
		check_group(i);
	check_raw_addresses();
	check_verdicts();
	check_by_port();
	check_mode_conflicts();
	check_many();
	done_testing();
}
