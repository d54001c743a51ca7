"""Problems: what they become, how they are looked for, and what people do with them."""
