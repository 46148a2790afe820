/* SPDX-License-Identifier: MIT */
/* A library for LD_AUDIT that sees every object and every binding, and changes nothing. */
#include <link.h>
#include <stdint.h>

unsigned la_version(unsigned version)
{
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the library's are reserved */
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)map, (void)space, (void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
		       unsigned *flags, const char *name)
{
	(void)index, (void)from, (void)to, (void)flags, (void)name;
	return symbol->st_value;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
