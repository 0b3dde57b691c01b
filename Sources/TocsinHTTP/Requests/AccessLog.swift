import HTTPTypes
import Logging
import NIOCore

/// One line a request; never a token, a body or a query string.
final class AccessLog: Sendable {
    private let logger: Logger
    private let isOn: Bool

    init(_ logger: Logger) {
        self.logger = logger
        isOn = logger.logLevel <= .info
    }

    func record(_ request: IncomingRequest, _ response: OutgoingResponse) {
        guard isOn else { return }
        var metadata: Logger.Metadata = [
            "id": "\(request.id)",
            "method": "\(request.method.rawValue)",
            "path": "\(request.path.prefix(200))",
            "status": "\(response.status.code)",
            "microseconds": "\((NIODeadline.now() - request.startedAt).nanoseconds / 1000)",
            "bytes": "\(response.body.count)",
        ]
        if let name = response.operationName { metadata["operation"] = "\(Self.escaped(name))" }
        logger.info("request", metadata: metadata)
    }

    func recordRefusal(_ response: OutgoingResponse, connection: Int) {
        logger.info("refused", metadata: ["id": "\(connection)", "status": "\(response.status.code)"])
    }

    /// A name of GraphQL has letters, digits and underscores; whatever else a client gives stays out of the log.
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
