"""What was spent: the account of one data set, which cannot be overspent."""

from louver.ledger.ledger import Ledger
from louver.ledger.model import Cap, Entry, Head, Person, Reservation
from louver.ledger.verify import Verdict

__all__ = ["Cap", "Entry", "Head", "Ledger", "Person", "Reservation", "Verdict"]
