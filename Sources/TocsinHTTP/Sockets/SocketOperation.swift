import GraphQLTransport
import NIOCore

/// What the log says of an operation over a WebSocket.
struct SocketOperation {
    /// The operation's name, as the client gave it.
    var name: String?
    /// `query`, `mutation` or `subscription`; nil for what could not be run.
    var kind: String?
    var startedAt = NIODeadline.now()
    /// The answer's length; 0 for a subscription, whose responses follow.
    var bytes = 0
    /// What it was about, by the log's keys.
    var subjects: [String: String] = [:]
}

extension SocketPerformer {
    /// Writes an operation that has been answered to the log, as requests are.
    ///
    /// An event stream has none: its one operation is the request itself.
    func record(_ operation: SocketOperation, of caller: Service.Caller, with reply: GraphQLReply? = nil) {
        guard let source else { return }
        var operation = operation
        if let reply { (operation.bytes, operation.subjects) = (reply.body.count, reply.subjects) }
        parts.accessLog.record(operation, of: source, user: parts.service.socketGroup(of: caller))
    }
}
