import HTTPTypes
import Logging
import NIOCore

/// One line a request; never a token, a body or a query string.
struct AccessLog {
    let logger: Logger

    func record(_ request: IncomingRequest, _ response: OutgoingResponse) {
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

    /// Client-given text as a name of GraphQL would be, so that nothing else gets into the log.
    private static func escaped(_ name: String) -> String {
        String(
            name.unicodeScalars.prefix(100).map {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_")
                    ? Character($0) : "?"
            }
        )
    }
}
