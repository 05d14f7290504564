/* What each host calls: OpenCL by the loader, in a context of the process. Results are 0, or the line that is wrong. */
#ifndef HOST_H
#define HOST_H

/* Runs a kernel on memory of its own, and looks at each result. */
int host_right(void);

/* Runs a kernel that faults: its event fails, and the next kernel is right. */
int host_fault(void);

#endif
