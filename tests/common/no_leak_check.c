/* no_leak_check.c: part of a sanitized program for machines on which looking for leaks takes seconds a process (see ./dev): it does not.
 *
 * The environment could say so as well, but launchers have none. */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return 1;
}
