import GraphQLTransport
import NIOCore
import NIOHTTP1
import Synchronization

/// Sends requests over HTTP/1.1, keeping one idle connection for the next.
final class HTTPCaller: Sendable {
    private struct Idle {
        var connection: HTTPConnection
        var since: ContinuousClock.Instant
    }

    private let connector: Connector
    private let settings: ClientSettings
    private let idle = Mutex<Idle?>(nil)

    /// Below the time after which servers and proxies commonly close idle connections.
    private static let longestIdle: Duration = .seconds(20)

    init(connector: Connector, settings: ClientSettings) {
        self.connector = connector
        self.settings = settings
    }

    deinit { close() }

    /// The server it calls.
    var address: ServerAddress { connector.address }

    /// Closes the idle connection.
    func close() {
        takeIdle()?.channel.close(promise: nil)
    }

    /// Sends one request to the GraphQL endpoint and waits for its answer; does not try again.
    func call(_ body: [UInt8], as credentials: Credentials) async throws(CallFailure) -> HTTPAnswer {
        let connection = try await open()
        return try await exchange(head(for: body, credentials), body, on: connection, timeout: settings.requestTimeout)
    }

    /// Sends any one request; connecting and the answer together take until `deadline`.
    func send(
        _ head: HTTPRequestHead,
        _ body: [UInt8],
        until deadline: ContinuousClock.Instant
    ) async throws(CallFailure) -> HTTPAnswer {
        let connection = try await open(within: max(.milliseconds(1), ContinuousClock.now.duration(to: deadline)))
        let rest = max(.milliseconds(1), ContinuousClock.now.duration(to: deadline))
        return try await exchange(head, body, on: connection, timeout: rest)
    }

    private func exchange(
        _ head: HTTPRequestHead,
        _ body: [UInt8],
        on connection: HTTPConnection,
        timeout limit: Duration
    ) async throws(CallFailure) -> HTTPAnswer {
        let channel = connection.channel
        let promise = channel.eventLoop.makePromise(of: HTTPAnswer.self)
        let timeout = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            promise.fail(ExchangeFailure.timedOut)
            channel.close(promise: nil)
        }
        defer { timeout.cancel() }
        connection.send(PendingRequest(head: head, body: ByteBuffer(bytes: body), answer: promise))
        do {
            let answer = try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                channel.close(promise: nil)
            }
            answer.keepsConnection ? keep(connection) : channel.close(promise: nil)
            return answer
        } catch {
            channel.close(promise: nil)
            throw failure(error)
        }
    }

    private func failure(_ error: any Error) -> CallFailure {
        guard !Task.isCancelled else { return CallFailure(error: .cancelled, retry: .never) }
        let (code, retry): (ClientError.Code, CallFailure.Retry) =
            switch error {
            case ExchangeFailure.timedOut: (.timedOut, .ifRepeatable)
            case ExchangeFailure.notHTTP, ExchangeFailure.tooLarge, is EncryptionFailure: (.badAnswer, .never)
            default: (.connectionFailed, .ifRepeatable)
            }
        let message = "\(connector.address.description) gave no answer: \(LostConnection.reason(error))."
        return CallFailure(error: ClientError(code, message, cause: error), retry: retry)
    }

    private func open(within timeout: Duration? = nil) async throws(CallFailure) -> HTTPConnection {
        if let connection = takeIdle() { return connection }
        let limit = settings.maximumAnswerBytes
        do throws(ClientError) {
            return try await connector.connect(within: timeout.map { TimeAmount($0) }) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    let ending = ConnectionEnding()
                    let handler = HTTPExchangeHandler(maximumBytes: limit, ending: ending)
                    try channel.pipeline.syncOperations.addHandler(handler)
                    return HTTPConnection(channel: channel, ending: ending)
                }
            }
        } catch {
            throw CallFailure(error: error, retry: error.code == .connectionFailed ? .always : .never)
        }
    }

    private func takeIdle() -> HTTPConnection? {
        let taken = idle.withLock { idle in
            defer { idle = nil }
            return idle
        }
        guard let taken, taken.connection.channel.isActive else { return nil }
        guard taken.since.duration(to: .now) < Self.longestIdle else {
            taken.connection.channel.close(promise: nil)
            return nil
        }
        return taken.connection
    }

    private func keep(_ connection: HTTPConnection) {
        let former = idle.withLock { idle in
            defer { idle = Idle(connection: connection, since: .now) }
            return idle
        }
        former?.connection.channel.close(promise: nil)
    }

    private func head(for body: [UInt8], _ credentials: Credentials) -> HTTPRequestHead {
        var headers = HTTPHeaders([
            ("Host", connector.address.authority),
            ("Content-Type", "application/json"),
            ("Content-Length", "\(body.count)"),
            ("Accept", "application/graphql-response+json"),
            ("User-Agent", settings.userAgent),
        ])
        if let token = credentials.authorization { headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let key = credentials.apiKey { headers.add(name: "x-api-key", value: key) }
        return HTTPRequestHead(version: .http1_1, method: .POST, uri: connector.address.path, headers: headers)
    }
}

/// One attempt that failed, and whether another may be made.
struct CallFailure: Error {
    enum Retry {
        /// The server has not seen the request, or asks to send it again.
        case always
        /// The server may have done what was asked.
        case ifRepeatable
        /// Another attempt would fail in the same way.
        case never
    }

    var error: ClientError
    var retry: Retry
    var retryAfterSeconds: Int?
    /// The server did nothing but refuse the credentials.
    var isRefusedCredentials = false
}
