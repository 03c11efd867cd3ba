/*
 * counter.c - counts the branches of the extension, which is compiled with
 * -fsanitize-coverage=trace-pc for table_work.py.  This file is compiled without it.
 */
__attribute__((visibility("default"))) unsigned long work_count;

void __sanitizer_cov_trace_pc(void);

void
__sanitizer_cov_trace_pc(void)
{
	work_count++;
}
