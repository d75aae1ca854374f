"""What drives training besides Gluon: key-value stores, callbacks, checkpoints, data iterators and Module."""
