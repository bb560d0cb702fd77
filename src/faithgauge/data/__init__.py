"""Where text comes from: one file per public data set, generic files, synthetic texts."""
