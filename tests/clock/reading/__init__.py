"""A second reading of the page "From punches to attendance: the rules", made from the page alone.

It imports nothing of the product: two readings that agree are worth more than one that is fast. It is plain and slow on
purpose and follows the page: `world` has the words, `one_punch` the order of decisions, `lane` the pairing, `outcome`
the outcome of a shift, `acts` what people and the server do.

Where the page says too little it reads: a fold that a setting must not un-fold repeats no tap of more than four hours
before (no setting folds beyond that); an open record reaches as far as its breaks do; the own tap of a fold is the one
it was folded into when folding was last decided, if both have the same record. An edited punch finds the record that it
left as long as that record has the hour that the punch gave it, and it takes this hour along. There is nothing to
write, and so nothing in the way, where the record has the hours of the shift already. An edited punch that became a
fold shows what keeps its old record from being brought up to date.
"""
