import GraphQL
import GraphQLTransport
import Metrics
import TocsinCore

// Stored messages for those who named a cursor, until they can go live.
extension LiveFeed {
    /// Sends stored messages after the cursor page by page, at the sink's pace,
    /// until the member can go live.
    func replay(_ start: FeedStart, to member: LiveMember, in group: LiveGroup) async {
        var progress = ReplayProgress(last: start.after)
        // A page is read in the turn in which it is sent, so that one is kept for a connection,
        // however many replays it has.
        while await member.sink.turn({
            await replays.turn(of: member.caller.owner) {
                let goesOn = await sendPage(&progress, of: start.scope, to: member, in: group)
                // Nothing more is read for a peer that does not read.
                await member.sink.allTaken()
                return goesOn
            }
        }) {}
        metrics.replays[progress.result].add()
    }

    /// Sends the next stored messages; false when these were the last, or it has ended.
    private func sendPage(
        _ progress: inout ReplayProgress,
        of scope: FeedScope,
        to member: LiveMember,
        in group: LiveGroup
    ) async -> Bool {
        let page: FeedPage?
        do {
            page = try await group.context.services.feeds.page(
                of: scope,
                after: progress.last,
                limit: progress.limit,
                bytes: ReplayProgress.bytesOfPage,
                caller: member.caller
            )
        } catch {
            fail(member, in: scope, Self.unavailable)
            return false
        }
        guard let page else {
            progress.result = .cursorExpired
            fail(member, in: scope, GraphQLError(.cursorExpired, FeedOpening.topicIsGone))
            return false
        }
        // What was pruned since is missed by nobody who is not told.
        guard progress.last >= page.bounds.first - 1 else {
            progress.result = .cursorExpired
            fail(member, in: scope, pruned(scope, page))
            return false
        }
        guard await send(page.messages, of: scope, to: member, in: group) else { return false }
        progress.note(page)
        guard page.isRest, member.goLive(after: page.end) else { return true }
        progress.result = .complete
        return false
    }

    /// Hands over the messages that the subscriber wants; false when it has ended.
    private func send(
        _ messages: [Record],
        of scope: FeedScope,
        to member: LiveMember,
        in group: LiveGroup
    ) async -> Bool {
        for message in messages {
            guard let offset = scope.offset(of: message) else { continue }
            let response = group.interest.includes(message) ? await response(for: message, in: group) : nil
            if let response { await member.sink.room(for: response) }
            guard !Task.isCancelled, member.replay(response, at: offset, MessageMark(message)) else { return false }
            if response != nil { metrics.replayed.add() }
        }
        return !Task.isCancelled
    }

    private func pruned(_ scope: FeedScope, _ page: FeedPage) -> GraphQLError {
        let oldest = MessageCursor(scope, at: page.bounds.first - 1).text(sealer: cursors)
        return GraphQLError(.cursorExpired, FeedOpening.pruned, oldestCursor: oldest)
    }

    private static let unavailable = GraphQLError(
        .unavailable,
        "Stored messages cannot be read just now. Subscribe again with extensions.cursor."
    )
}

/// How far a replay is, and how much it reads next: about a quarter of a megabyte, which of small
/// messages is some hundred.
struct ReplayProgress {
    /// The offset of the message read last.
    private(set) var last: Int64
    /// How many messages the next page has at most.
    private(set) var limit = 32
    /// How it has ended.
    var result = LiveMetrics.Replay.cut

    /// A page ends behind the message with which its texts come to so much.
    static let bytesOfPage = 262_144
    private static let messagesOfPage = 200

    /// A replay of what comes after an offset.
    init(last: Int64) { self.last = last }

    /// A page was sent; the next messages are probably as large as its.
    mutating func note(_ page: FeedPage) {
        last = page.end
        let bytes = page.messages.reduce(0) { $0 + $1.approximateBytes }
        let average = bytes / max(1, page.messages.count)
        limit = max(4, min(Self.messagesOfPage, limit * 4, Self.bytesOfPage / max(1, average)))
    }
}
