import GraphQLTransport
import HTTPTypes
import Logging
import NIOCore
import Synchronization

/// One line a request; never a token, a body or a query string.
///
/// What anybody can cause without being let in is folded by status and address: refusals, opened
/// sockets, pages and probes.
final class AccessLog: Sendable {
    /// What a line is about.
    enum Subject {
        case request
        /// A request that could not be read, or was not waited for.
        case refusal
        /// An operation over a WebSocket.
        case operation
        /// The end of a socket.
        case socketEnd
        /// The end of a socket or event stream whose peer does not read.
        case slowReader

        /// What the line says in any case.
        var fields: Logger.Metadata {
            switch self {
            case .request: ["event": "request"]
            case .refusal: ["event": "request_refused"]
            case .operation: ["event": "operation"]
            case .socketEnd: ["event": "socket_closed"]
            case .slowReader: ["event": "slow_reader_cut"]
            }
        }

        var level: Logger.Level { self == .slowReader ? .notice : .info }

        var message: Logger.Message {
            switch self {
            case .request: "request"
            case .refusal: "request refused"
            case .operation: "operation"
            case .socketEnd: "socket closed"
            case .slowReader: "a peer that does not read was cut"
            }
        }
    }

    private let logger: Logger
    private let rules: CurrentRules
    private let folded = FoldedLines()
    private let sampled = Atomic(0)

    /// A path without the secrets in it.
    private let maskedPath: @Sendable (String) -> String

    init(_ logger: Logger, _ rules: CurrentRules, maskedPath: @escaping @Sendable (String) -> String = { $0 }) {
        self.logger = logger
        self.rules = rules
        self.maskedPath = maskedPath
    }

    /// The level may change while the server runs.
    private var isOn: Bool { logger.logLevel <= .info }

    func record(_ request: IncomingRequest, _ response: OutgoingResponse) {
        guard isOn else { return }
        let status = response.status.code
        let milliseconds = Double((NIODeadline.now() - request.startedAt).nanoseconds / 1000) / 1000
        guard status >= 400 || takes(milliseconds) else { return }
        var client = request.credentials.remoteAddress
        var fields: Logger.Metadata = [:]
        let isStrangers = response.owner == nil && !request.credentials.isShown
        if status >= 400 || status == 101 || isStrangers {
            guard let line = fold(.request, status, client) else { return }
            client = line.key.address
            fields["count"] = .stringConvertible(line.count)
        }
        fields["request_id"] = "\(request.id)"
        fields["client_address"] = client.map { "\($0)" }
        fields["method"] = "\(request.method.rawValue)"
        fields["path"] = "\(maskedPath(request.head.sentPath).prefix(200))"
        fields["status"] = .stringConvertible(status)
        fields["duration_ms"] = .stringConvertible(milliseconds)
        fields["bytes"] = .stringConvertible(response.body.count)
        if let user = response.owner { fields["user"] = "\(user)" }
        if let name = response.operationName { fields["operation"] = "\(Self.escaped(name))" }
        Self.add(response.subjects, to: &fields)
        write(.request, fields)
    }

    /// An operation over a WebSocket: its answer, or the registration of a subscription.
    func record(_ operation: SocketOperation, of source: RequestSource, user: String?) {
        guard isOn else { return }
        let milliseconds = Double((NIODeadline.now() - operation.startedAt).nanoseconds / 1000) / 1000
        guard takes(milliseconds) else { return }
        var fields: Logger.Metadata = [:]
        fields["request_id"] = source.id.map { "\($0)" }
        fields["operation_type"] = operation.kind.map { "\($0)" }
        fields["client_address"] = source.remoteAddress.map { "\($0)" }
        fields["duration_ms"] = .stringConvertible(milliseconds)
        fields["bytes"] = .stringConvertible(operation.bytes)
        if let user { fields["user"] = "\(user)" }
        if let name = operation.name { fields["operation"] = "\(Self.escaped(name))" }
        Self.add(operation.subjects, to: &fields)
        write(.operation, fields)
    }

    /// A request that could not be read, or was not waited for.
    func recordRefusal(_ response: OutgoingResponse, id: String, address: String?) {
        guard isOn, let line = fold(.refusal, response.status.code, address) else { return }
        write(line, ["request_id": "\(id)"])
    }

    /// The end of a socket, of somebody who was let in or of a stranger; `code` is
    /// the one it was closed with.
    func recordEnd(ofSocket id: String, isStrangers: Bool, user: String?, code: Int?, address: String?) {
        guard isOn else { return }
        let code = code ?? 0
        // 4400 to 4499 refuse, as statuses of HTTP do.
        guard isStrangers || (4400..<4500).contains(code) else {
            guard takes(0) else { return }
            var fields: Logger.Metadata = ["request_id": "\(id)"]
            fields["client_address"] = address.map { "\($0)" }
            if let user { fields["user"] = "\(user)" }
            if code > 0 { fields["code"] = .stringConvertible(code) }
            return write(.socketEnd, fields)
        }
        guard let line = fold(.socketEnd, code, address) else { return }
        write(line, ["request_id": "\(id)"])
    }

    /// A socket or event stream that is cut because its peer does not read.
    func recordCut(of id: String, because reason: SocketMetrics.Slowness, user: String?, address: String?) {
        guard logger.logLevel <= Subject.slowReader.level, let line = fold(.slowReader, 0, address) else { return }
        var fields: Logger.Metadata = ["request_id": "\(id)", "reason": "\(reason.rawValue)"]
        if let user { fields["user"] = "\(user)" }
        write(line, fields)
    }

    /// Writes what was folded and is due, or all of it.
    func writeFolded(all: Bool = false) {
        for line in folded.takeDue(now: .now(), all: all) { write(line) }
    }

    /// Whether a line that tells of no refusal is wanted.
    private func takes(_ milliseconds: Double) -> Bool {
        switch rules.value.requestLog {
        case .all: return true
        case .errors: return false
        case .slow(let least): return milliseconds >= least
        case .sample(let part):
            // Multiples of the golden ratio fill the unit interval evenly.
            let number = Double(sampled.add(1, ordering: .relaxed).newValue)
            return (number * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1) < part
        }
    }

    private func fold(_ subject: Subject, _ code: Int, _ address: String?) -> (key: FoldedLines.Key, count: Int)? {
        folded.take(FoldedLines.Key(subject: subject, code: code, address: address ?? "unknown"), now: .now())
    }

    private func write(_ line: (key: FoldedLines.Key, count: Int), _ more: Logger.Metadata = [:]) {
        var fields = more
        if line.key.code > 0 {
            fields[line.key.subject == .socketEnd ? "code" : "status"] = .stringConvertible(line.key.code)
        }
        fields["client_address"] = "\(line.key.address)"
        fields["count"] = .stringConvertible(line.count)
        write(line.key.subject, fields)
    }

    private func write(_ subject: Subject, _ fields: Logger.Metadata) {
        logger.log(level: subject.level, subject.message, metadata: fields.merging(subject.fields) { $1 })
    }

    /// Ids of clients may be long, and hold anything: lines escape what they hold.
    private static func add(_ subjects: [String: String], to fields: inout Logger.Metadata) {
        // By scalars: one letter may have any number of marks.
        for (key, id) in subjects { fields[key] = "\(String(id.unicodeScalars.prefix(maximumIDLength)))" }
    }

    private static let maximumIDLength = 100

    /// A name of GraphQL has letters, digits and underscores; whatever else a client
    /// gives stays out of the log.
    private static func escaped(_ name: String) -> String {
        let bytes = name.utf8.prefix(100).map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                byte
            default: UInt8(ascii: "?")
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Credentials {
    /// Whether there is anything by which somebody is known; routes' answers name no owner.
    fileprivate var isShown: Bool { authorization != nil || apiKey != nil || cookie != nil }
}
