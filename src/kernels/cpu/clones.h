#pragma once
// ASSAY_CLONES: compile a function for several instruction sets and let the loader pick by CPU features. GCC
// only, and not under sanitizers, whose runtimes are not up yet when the loader asks.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(ASSAY_SANITIZED) && \
    defined(__OPTIMIZE__)
#define ASSAY_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY_CLONES
#endif
