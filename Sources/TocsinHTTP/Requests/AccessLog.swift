import GraphQLTransport
import HTTPTypes
import Logging
import NIOCore

/// One line a request; never a token, a body or a query string.
///
/// What anybody can cause without being let in is folded: refusals and opened
/// sockets, by status and address.
final class AccessLog: Sendable {
    private let logger: Logger
    /// The level may change while the server runs.
    private var isOn: Bool { logger.logLevel <= .info }
    private let folded = FoldedLines()

    init(_ logger: Logger) {
        self.logger = logger
    }

    func record(_ request: IncomingRequest, _ response: OutgoingResponse) {
        guard isOn else { return }
        let status = response.status.code
        var line: (key: FoldedLines.Key, count: Int)?
        if status >= 400 || status == 101 {
            line = fold("request", status, request.credentials.remoteAddress)
            guard line != nil else { return }
        }
        var metadata: Logger.Metadata = [
            "id": "\(request.id)",
            "method": "\(request.method.rawValue)",
            "path": "\(request.path.prefix(200))",
            "status": "\(response.status.code)",
            "microseconds": "\((NIODeadline.now() - request.startedAt).nanoseconds / 1000)",
            "bytes": "\(response.body.count)",
        ]
        if let name = response.operationName { metadata["operation"] = "\(Self.escaped(name))" }
        if let line {
            metadata["address"] = "\(line.key.address)"
            metadata["count"] = "\(line.count)"
        }
        logger.info("request", metadata: metadata)
    }

    /// A request that could not be read, or was not waited for.
    func recordRefusal(_ response: OutgoingResponse, connection: Int, address: String?) {
        guard isOn, let line = fold("refused", response.status.code, address) else { return }
        write(line, ["id": "\(connection)"])
    }

    /// The end of a socket, of somebody who was let in or of a stranger; `code` is
    /// the one it was closed with.
    func recordEnd(ofSocket id: String, isStrangers: Bool, code: Int?, address: String?) {
        guard isOn else { return }
        let code = code ?? 0
        // 4400 to 4499 refuse, as statuses of HTTP do.
        guard isStrangers || (4400..<4500).contains(code) else {
            var metadata: Logger.Metadata = ["id": "\(id)"]
            if code > 0 { metadata["code"] = "\(code)" }
            return logger.info("socket closed", metadata: metadata)
        }
        guard let line = fold("socket closed", code, address) else { return }
        write(line, ["id": "\(id)"])
    }

    /// Writes what was folded and is due, or all of it.
    func writeFolded(all: Bool = false) {
        for line in folded.takeDue(now: .now(), all: all) { write(line) }
    }

    private func fold(_ message: String, _ code: Int, _ address: String?) -> (key: FoldedLines.Key, count: Int)? {
        folded.take(FoldedLines.Key(message: message, code: code, address: address ?? "unknown"), now: .now())
    }

    private func write(_ line: (key: FoldedLines.Key, count: Int), _ more: Logger.Metadata = [:]) {
        var metadata = more
        if line.key.code > 0 { metadata[line.key.code < 1000 ? "status" : "code"] = "\(line.key.code)" }
        metadata["address"] = "\(line.key.address)"
        metadata["count"] = "\(line.count)"
        logger.info("\(line.key.message)", metadata: metadata)
    }

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
