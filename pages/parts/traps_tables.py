"""The story in tables: why Transformers, their parts, their family, the tricks of training."""

import pandas as pd
import streamlit as st

from pages.parts.downloads import downloads
from pages.parts.traps_words import check_link

PARTS = {
    "Part": [
        "Embedding",
        "Positional encoding",
        "Attention",
        "Several heads",
        "Feed-forward network",
        "Residual connection",
        "LayerNorm",
        "Masks",
        "Output head",
    ],
    "Role": [
        "Turns a letter into a vector.",
        "Stamps the vector with its place; without it a sequence is a bag of letters.",
        "Lets residues talk: each gathers from all the others, weighted by fit.",
        "Several conversations side by side, each with its own pattern.",
        "Lets each residue think on its own; holds most of the weights.",
        "A shortcut for the gradient: each part adds to the stream instead of replacing it.",
        "Rescales each position on its own, so batch size and length do not matter.",
        "Padding: nobody looks at filler. Causal: nobody looks ahead.",
        "Turns the last vector into a score for every letter.",
    ],
}
FAMILY = {
    "Kind": ["Encoder only", "Decoder only", "Encoder-decoder"],
    "Attention": [
        "in both directions",
        "backwards only (causal)",
        "both in the encoder, causal in the decoder, and across",
    ],
    "Trained to": [
        "fill in hidden letters",
        "write the next letter",
        "turn one sequence into another",
    ],
    "Examples": ["BERT, ESM-2, TRB-mini", "GPT", "the original Transformer, T5, Whisper"],
    "Good for": [
        "understanding: embeddings, guesses of a residue",
        "writing: text, code, new sequences",
        "mapping: translation, speech to text, our reverse task",
    ],
    "Here": ["Protein model page", "masks on the Full Transformer page", "Training page"],
}
WHY = {
    "Because": [
        "Training runs over all positions at once",
        "Any two positions are one step apart",
        "More data and more weights help predictably",
        "One block serves many kinds of data",
    ],
    "Instead of": [
        "waiting for letter 12 before reading letter 13",
        "a memory that fades with every step",
        "a new design for every size",
        "text, image patches, audio frames and cells each with their own network",
    ],
    "See it": ["Forgetting", "Forgetting", "Weights", "Any tokens"],
}
TRICKS = {
    "Trick": [
        "Warm-up",
        "Label smoothing 0.1",
        "Dropout 0.1",
        "Gradient clipping",
        "Xavier initialisation",
        "Beam search",
    ],
    "What it does": [
        "Small steps while the weights are random; post-LN models often diverge without it.",
        "Asks for less than certainty, against over-confidence; the loss stops above 0.",
        "Switches off a tenth of the numbers at random while training, so that none is relied on.",
        "Shortens a gradient that is too long, so that one bad batch cannot undo the training.",
        "Draws first weights so that signals neither grow nor fade from layer to layer.",
        "Keeps the few best unfinished outputs instead of one while writing.",
    ],
}
DROPOUT = """\
**Where dropout sits:** on the attention weights, on the activations inside the feed-forward
network, on each sublayer's output before it is added to the residual, and on embeddings plus
positions."""
TABLES = {
    "Parts and roles": PARTS,
    "Three families": FAMILY,
    "Why they won": WHY,
    "Training tricks": TRICKS,
}


@st.fragment
def show() -> None:
    """One table at a time."""
    first = next(iter(TABLES))
    check_link({"x_table": ("table", lambda text: text in TABLES)})
    chosen = st.segmented_control(
        "Table", list(TABLES), default=first, required=True, key="x_table", bind="query-params"
    )
    name = chosen if chosen in TABLES else first
    table = pd.DataFrame(TABLES[name])
    st.table(table.set_index(table.columns[0]))
    if name == "Training tricks":
        st.markdown(DROPOUT)
    downloads(f"traps_{name.lower().replace(' ', '_')}", table=table)
