package import JSON

/// Follows one topic, or all topics of the caller, over one operation after another.
///
/// **Where a feed begins.** With a cursor it goes on after it. Without one it begins "now", and
/// "now" must survive the loss of the first connection. So the client first asks the server where
/// the feed stands, and subscribes with that cursor, however often the connection breaks.
///
/// **Exactly once.** Numbers are dense in a topic. What was given out before is dropped; a hole is
/// met by asking again after the last cursor. A hole that is still there then is the server's own
/// (messages that are not kept any more). Over all topics, holes are not looked for: the cursor
/// alone says where the feed stands.
package struct FeedMachine: SocketOperation {
    /// What is followed.
    package enum Scope: Hashable, Sendable {
        case topic(String)
        /// All topics of the caller's own.
        case all
    }

    /// Where a feed begins.
    package enum Start: Hashable, Sendable {
        case now
        case after(cursor: String)
        case point(ResumePoint)
    }

    private enum Place: Equatable {
        /// Nothing is known yet.
        case unknown
        /// Before the first message.
        case beginning
        case after(cursor: String)
    }

    private let scope: Scope
    private var place: Place
    private var isFindingPlace = false
    /// The number of each topic's message given out last; 0 when the topic began empty.
    private var lastNumbers: [String: Int64] = [:]
    /// The last number at which a hole was met by asking again.
    private var holeAskedAfter: Int64?
    /// Most topics whose last numbers are kept.
    private static let mostTopics = 4096

    /// A feed that has not begun.
    package init(_ scope: Scope, start: Start) {
        self.scope = scope
        switch start {
        case .now: place = .unknown
        case .after(let cursor): place = .after(cursor: cursor)
        case .point(let point):
            place = point.cursor.map(Place.after) ?? .beginning
            lastNumbers[point.topicID] = point.number
        }
    }

    /// The cursor of the message given out last, or the one the feed began with.
    package var cursor: String? {
        if case .after(let cursor) = place { return cursor }
        return nil
    }

    /// Asks where the feed stands, or goes on from there.
    package mutating func begin() -> [OperationAction] {
        guard place == .unknown else { return [subscribe()] }
        isFindingPlace = true
        switch scope {
        case .topic(let id): return [.run(query: Documents.standOfTopic, variables: ["topicId": .string(id)])]
        case .all: return [.run(query: Documents.standOfAll, variables: [:])]
        }
    }

    /// Takes the place or a message.
    package mutating func received(_ response: JSONObject) -> [OperationAction] {
        if isFindingPlace { return foundPlace(response) }
        guard let message = FeedMessage(response["data"]?["onCreateMessage"]) else { return [Self.failure(response)] }
        let last = lastNumbers[message.topicID]
        guard scope != .all, let last, message.number > last + 1, holeAskedAfter != last else {
            return deliver(message, last)
        }
        holeAskedAfter = last
        let hole = "Message \(last + 1) was expected, \(message.number) came."
        return [.again(FeedFailure(.connectionFailed, hole))]
    }

    /// Goes on after a pause: a feed has no end.
    package mutating func completed() -> [OperationAction] {
        [.fail(FeedFailure(.unavailable, "The server ended the subscription."))]
    }

    /// Tells the reader.
    package mutating func confirmed() -> [OperationAction] { isFindingPlace ? [] : [.give(.live)] }

    /// Tells the reader, who may show now that nothing is missing.
    package mutating func caughtUp() -> [OperationAction] {
        isFindingPlace ? [] : [.give(.caughtUp(cursor.map { FeedPlace(cursor: $0) }))]
    }

    private mutating func deliver(_ message: FeedMessage, _ last: Int64?) -> [OperationAction] {
        guard message.number > last ?? 0 else { return [] }
        if last == nil, lastNumbers.count >= Self.mostTopics { lastNumbers = [:] }
        lastNumbers[message.topicID] = message.number
        place = .after(cursor: message.cursor)
        return [.give(.message(message))]
    }

    private mutating func subscribe() -> OperationAction {
        isFindingPlace = false
        let after: JSONObject = ["after": .string(cursor ?? "")]
        switch scope {
        case .topic(let id):
            var variables: JSONObject = ["topicId": .string(id)]
            variables["after"] = after["after"]
            return .run(query: Documents.follow, variables: variables)
        case .all: return .run(query: Documents.followAll, variables: after)
        }
    }

    private mutating func foundPlace(_ response: JSONObject) -> [OperationAction] {
        guard GraphQLAnswer.firstError(of: response["errors"]) == nil else { return [Self.failure(response)] }
        switch scope {
        case .all:
            guard let cursor = response["data"]?["me"]?["cursor"]?.stringValue else { return [.fail(.strange)] }
            place = .after(cursor: cursor)
            return [subscribe()]
        case .topic(let id):
            let topic = response["data"]?["getTopic"]
            guard let cursor = topic?["cursor"]?.stringValue, let number = topic?["lastNumber"]?.intValue else {
                return [.fail(.strange)]
            }
            place = .after(cursor: cursor)
            lastNumbers[id] = number
            return [.give(.begun(ResumePoint(topicID: id, number: number, cursor: cursor))), subscribe()]
        }
    }

    static func failure(_ response: JSONObject) -> OperationAction {
        .fail(GraphQLAnswer.firstError(of: response["errors"]).map(FeedFailure.init) ?? .strange)
    }
}

/// Runs one subscription document again whenever it was interrupted.
package struct DocumentOperation: SocketOperation {
    private let query: String
    private let variables: JSONObject

    /// An operation that has not begun.
    package init(query: String, variables: JSONObject) {
        self.query = query
        self.variables = variables
    }

    /// Sends the document.
    package mutating func begin() -> [OperationAction] { [.run(query: query, variables: variables)] }

    /// Hands the data on; a response with errors is the last.
    package mutating func received(_ response: JSONObject) -> [OperationAction] {
        guard GraphQLAnswer.firstError(of: response["errors"]) == nil else { return [FeedMachine.failure(response)] }
        return [.give(.event(response["data"] ?? .null))]
    }

    /// Ends.
    package mutating func completed() -> [OperationAction] { [.end] }

    /// Says nothing: nothing is stored.
    package mutating func caughtUp() -> [OperationAction] { [] }

    /// Tells the reader.
    package mutating func confirmed() -> [OperationAction] { [.give(.live)] }
}
