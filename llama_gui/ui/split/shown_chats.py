"""Which of the open chats are seen: one, or two side by side; pure."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class ShownChats:
    """Their ids, from the side where reading begins. `front`: the one that keys and settings mean."""

    chats: tuple[str, ...] = ()
    front: str = ""

    @property
    def beside(self) -> str:
        """The other one; "" where there is none."""
        return next((chat for chat in self.chats if chat != self.front), "")

    def choose(self, chat: str) -> "ShownChats":
        """Let a chat be in front: where it is if it is seen, else in the place of the one that was in front."""
        if chat in self.chats:
            return replace(self, front=chat)
        if not self.beside:
            return ShownChats((chat,), chat)
        return ShownChats(tuple(chat if shown == self.front else shown for shown in self.chats), chat)

    def add(self, chat: str, partner: str) -> "ShownChats":
        """Show a chat beside the partner, on the second side, and in front."""
        return ShownChats((partner, chat), chat)

    def put(self, chat: str, partner: str, *, first: bool) -> "ShownChats":
        """Show a chat on a side, and in front; on the other stays who is there, or else the partner is."""
        other = self.chats[1 if first else 0] if len(self.chats) > 1 else partner
        if other == chat:
            other = self.chats[0 if first else 1] if len(self.chats) > 1 else partner
        return ShownChats((chat, other) if first else (other, chat), chat)

    def leave(self, chat: str) -> "ShownChats":
        """Show the other one alone."""
        rest = tuple(shown for shown in self.chats if shown != chat)
        return ShownChats(rest, next(iter(rest), ""))
