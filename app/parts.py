"""The long-lived parts that requests, jobs and commands share: settings, database, keys, the outbound client."""

from dataclasses import dataclass, field

from app.config import Settings
from app.db.session import Database
from app.outbound import AddressPolicy, OutboundClient, parse_allow_list
from app.secrets import KeyRing, load_or_create_keys

# Connections of a process for exports: they take long, and pages must not wait for one of theirs.
FOR_EXPORTS = 3
# And for the limits of API tokens, while the request that is counted holds one already.
FOR_LIMITS = 1


@dataclass(slots=True)
class Draining:
    """Begins when the process is asked to end; it still serves for some seconds."""

    has_begun: bool = False


@dataclass(frozen=True, slots=True)
class Parts:
    settings: Settings
    database: Database
    exports: Database
    limits: Database
    keys: KeyRing
    outbound: OutboundClient
    leaving: Draining = field(default_factory=Draining)

    async def close(self) -> None:
        await self.outbound.aclose()
        await self.exports.close()
        await self.limits.close()
        await self.database.close()


def make_parts(settings: Settings, database_url: str, *, pool_size: int = 10) -> Parts:
    """Nothing connects yet. `pool_size`: the connections of this process at most, besides FOR_EXPORTS and FOR_LIMITS. `database_url` is the app
    role's; an embedded cluster runs already."""
    return Parts(
        settings=settings,
        database=Database(database_url, pool_size=pool_size),
        exports=Database(database_url, pool_size=FOR_EXPORTS, application_name="muster exports"),
        limits=Database(database_url, pool_size=FOR_LIMITS, application_name="muster limits"),
        keys=_keys(settings),
        outbound=OutboundClient(AddressPolicy(parse_allow_list(settings.outbound_allow))),
    )


def _keys(settings: Settings) -> KeyRing:
    if settings.secret_keys:
        return KeyRing.from_text(settings.secret_keys)
    return load_or_create_keys(settings.data_dir)
