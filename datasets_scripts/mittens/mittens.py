"""MiTTenS in contrastive format as a builder of the `datasets` library."""

import cc_hf.data.builder
import cc_hf.test_sets.mittens.reader


class Mittens(cc_hf.data.builder.ContrastiveBuilder):
    """A builder of the configurations that the reader declares."""

    DECLARATION = cc_hf.test_sets.mittens.reader.DECLARATION
