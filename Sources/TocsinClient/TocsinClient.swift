public import JSON
import Synchronization

/// Speaks to one Tocsin server with one token: publishes messages, follows
/// topics, registers devices.
///
/// Safe to use from many tasks at once. Requests share one kept connection; each
/// followed feed has its own.
public final class TocsinClient: Sendable {
    let address: ServerAddress
    let settings: ClientSettings
    let token: String?
    let connector: Connector
    private let caller: HTTPCaller
    /// Topic names and their ids, as far as they were asked for.
    let topicIDs = Mutex<[String: String]>([:])

    /// A client of the server at `url` (`http://…` or `https://…`); connects when first used.
    public init(url: String, token: String?, settings: ClientSettings = ClientSettings()) throws(ClientError) {
        address = try ServerAddress(url: url)
        if let token, !token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) || token.isEmpty {
            throw ClientError(.unauthenticated, "The token is empty or has spaces or odd characters in it.")
        }
        connector = try Connector(address: address, settings: settings)
        caller = HTTPCaller(connector: connector, token: token, settings: settings)
        self.settings = settings
        self.token = token
    }

    /// Closes the kept connection; feeds that are followed go on.
    public func close() { caller.close() }

    /// Runs a query, or a mutation that may safely be repeated, and returns its `data`.
    ///
    /// Lost connections, missing answers and a server's temporary refusals are met by trying again,
    /// within the settings' bounds. Any error in the response is thrown.
    public func query(_ document: String, variables: JSONObject = [:]) async throws(ClientError) -> JSONValue {
        try await run(document, variables, isRepeatable: true)
    }

    /// Runs a mutation and returns its `data`; tries again only where the
    /// server cannot have seen it.
    public func mutate(_ document: String, variables: JSONObject = [:]) async throws(ClientError) -> JSONValue {
        try await run(document, variables, isRepeatable: false)
    }

    private func run(
        _ document: String,
        _ variables: JSONObject,
        isRepeatable: Bool
    ) async throws(ClientError) -> JSONValue {
        let request: JSONValue = ["query": .string(document), "variables": .object(variables)]
        let body = request.serialized()
        var attempt = 1
        while true {
            do throws(CallFailure) {
                return try GraphQLAnswer.data(of: try await caller.call(body), from: address)
            } catch {
                let mayRetry: Bool =
                    switch error.retry {
                    case .always: true
                    case .ifRepeatable: isRepeatable
                    case .never: false
                    }
                guard mayRetry, attempt < settings.maximumAttempts else { throw error.error }
                try await pause(afterFailures: attempt, settings.requestPauses, atLeastSeconds: error.retryAfterSeconds)
                attempt += 1
            }
        }
    }

    /// Waits before another attempt; what a server asks for is kept up to a minute.
    func pause(
        afterFailures failures: Int,
        _ pauses: Backoff,
        atLeastSeconds seconds: Int? = nil
    ) async throws(ClientError) {
        let pause = pauses.pause(afterFailures: failures, random: Double.random(in: 0..<1))
        let asked = Duration.seconds(min(max(seconds ?? 0, 0), 60))
        do {
            try await Task.sleep(for: max(pause, asked))
        } catch {
            throw .cancelled
        }
    }
}
