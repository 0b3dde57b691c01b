import GraphQLTransport
import TocsinCore

/// Members of one group who are reached together.
struct LiveRoster: Sendable {
    /// Who reaches them; nil: each is told by itself.
    private let sender: (any ResponseSender)?
    private let members: [LiveMember]
    /// The members' sinks in the same order, so that a response for all needs no new list.
    private let sinks: [any ResponseSink]
    /// No more events are delivered at once: they are told apart by the bits of one word.
    static let maximumEvents = 64

    private init(sender: (any ResponseSender)?, members: [LiveMember]) {
        self.sender = sender
        self.members = members
        sinks = members.map(\.sink)
    }

    /// The members by their senders.
    static func rosters(of members: some Sequence<LiveMember>) -> [LiveRoster] {
        var indices: [ObjectIdentifier?: Int] = [:]
        var lists: [(sender: (any ResponseSender)?, members: [LiveMember])] = []
        for member in members {
            let sender = member.sink.sender
            let key = sender.map { ObjectIdentifier($0) }
            if let index = indices[key] {
                lists[index].members.append(member)
            } else {
                indices[key] = lists.count
                lists.append((sender, [member]))
            }
        }
        return lists.map { LiveRoster(sender: $0.sender, members: $0.members) }
    }

    var count: Int { members.count }

    /// Whether responses for all would soon be on their way; if not, `wake` is
    /// called once when they would.
    func hasRoom(orCall wake: @escaping @Sendable () -> Void) -> Bool {
        sender?.hasRoom(for: sinks, orCall: wake) ?? true
    }

    /// Hands each member those of the responses it wants; event and response stand at the same
    /// index.
    ///
    /// Tells `watch` when all of them have been written to.
    func deliver(_ responses: [SharedResponse], of events: ArraySlice<LiveEvent>, _ watch: TurnWatch?) {
        let all = UInt64.max >> UInt64(Self.maximumEvents - events.count)
        let wanted = members.map { $0.wants(events) }
        guard let sender else {
            for (member, wanted) in zip(members, wanted) { hand(responses, wanted, to: member.sink) }
            watch?.written()
            return
        }
        if wanted.allSatisfy({ $0 == all }) { return sender.send(responses, to: sinks, watch) }
        var whole: [any ResponseSink] = []
        for (sink, wanted) in zip(sinks, wanted) {
            if wanted == all { whole.append(sink) } else { hand(responses, wanted, to: sink) }
        }
        if whole.isEmpty { watch?.pass() }
        sender.send(responses, to: whole, watch)
    }

    private func hand(_ responses: [SharedResponse], _ wanted: UInt64, to sink: any ResponseSink) {
        for (index, response) in responses.enumerated() where wanted & (1 << UInt64(index)) != 0 { sink.next(response) }
    }
}
