"""Arrays: operator records, NDArray, the array backends, the autograd tape and random numbers."""
