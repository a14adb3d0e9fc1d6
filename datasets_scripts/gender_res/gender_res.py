"""gender-res in contrastive format as a builder of the `datasets` library."""

import cc_hf.data.builder
import cc_hf.data.readers.gender_res


class GenderRes(cc_hf.data.builder.ContrastiveBuilder):
    """A builder of the configurations that the reader declares."""

    DECLARATION = cc_hf.data.readers.gender_res.DECLARATION
