"""Text to ids: tokenizers, vocabulary, word vectors, batches."""
