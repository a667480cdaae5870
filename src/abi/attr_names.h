/* SPDX-License-Identifier: MIT */
/* attr_names.h: the names of an attr's values and bits, as linux/perf_event.h spells them. */
#ifndef SEAM_ABI_ATTR_NAMES_H
#define SEAM_ABI_ATTR_NAMES_H

#define ATTR_TYPES 6
#define ATTR_HARDWARE 10
#define ATTR_SOFTWARE 12
#define ATTR_SAMPLES 25
#define ATTR_READS 5
#define ATTR_FLAGS 40

extern const char *const attr_type_names[ATTR_TYPES];        /* behind PERF_TYPE_ */
extern const char *const attr_hardware_names[ATTR_HARDWARE]; /* behind PERF_COUNT_HW_ */
extern const char *const attr_software_names[ATTR_SOFTWARE]; /* behind PERF_COUNT_SW_ */
extern const char *const attr_sample_names[ATTR_SAMPLES];    /* by bit, behind PERF_SAMPLE_ */
extern const char *const attr_read_names[ATTR_READS];        /* by bit, behind PERF_FORMAT_ */
/* Indexed by bit. precise_ip is a number of two bits: its name stands at the first, NULL at the
 * second. */
extern const char *const attr_flag_names[ATTR_FLAGS];

#endif
