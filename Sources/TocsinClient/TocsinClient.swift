public import JSON
import Synchronization

/// Speaks to one Tocsin server for one user: publishes messages, follows topics, registers devices.
///
/// Safe to use from many tasks at once. Requests share one kept connection, and all feeds share one
/// socket. A change of user is a new client.
public final class TocsinClient: Sendable {
    let address: ServerAddress
    let settings: ClientSettings
    let feeds: SocketHub
    let keeper: CredentialKeeper
    /// For a client that has signed in with a password.
    let sessionTokens: SessionTokens?
    private let caller: HTTPCaller
    /// Topic names and their ids, as far as they were asked for.
    let topicIDs = Mutex<[String: String]>([:])

    /// A client of the server at `url`, `https://…` or `http://…` of this machine; connects when
    /// first used.
    public init(
        _ url: String,
        credentials: ClientCredentials,
        settings: ClientSettings = ClientSettings()
    ) throws(ClientError) {
        address = try ServerAddress(url: url)
        guard address.isEncrypted || address.isLoopback || settings.allowsPlainText else {
            throw ClientError(
                .badAddress,
                "\"\(url)\" would send the token as plain text. Write https://, or set allowsPlainText for a network that "
                    + "you trust."
            )
        }
        let connector = try Connector(address: address, settings: settings)
        caller = HTTPCaller(connector: connector, settings: settings)
        switch credentials.source {
        case .fixed(let fixed, let text):
            keeper = try CredentialKeeper(fixed: fixed, given: text, settings: settings)
            sessionTokens = nil
        case .provider(let provide):
            keeper = CredentialKeeper(provide, settings: settings)
            sessionTokens = nil
        case .session(let session, let onChange):
            let tokens = SessionTokens(session, caller: caller, settings: settings, onChange: onChange)
            keeper = CredentialKeeper(tokens.token, settings: settings)
            sessionTokens = tokens
        }
        feeds = SocketHub(connector: connector, keeper: keeper, settings: settings)
        self.settings = settings
    }

    /// A client with one token for as long as it lasts.
    public convenience init(
        url: String,
        token: String?,
        settings: ClientSettings = ClientSettings()
    ) throws(ClientError) {
        try self.init(url, credentials: token.map(ClientCredentials.token) ?? .anonymous, settings: settings)
    }

    /// What becomes of the feeds' connection, beginning with what it is now.
    public var connection: ConnectionStates { feeds.states }

    /// The app knows that the network has changed.
    ///
    /// A usable one ends the pause before the next attempt, and the attempts count from the first
    /// again. While there is none, feeds try only as often as their longest pause.
    public func networkChanged(isUsable: Bool) { feeds.networkChanged(isUsable: isUsable) }

    /// Closes the feeds' connection until `resume()`, as for an app that goes to the background;
    /// requests still work, and feeds lose nothing.
    public func pause() { feeds.pause() }

    /// Lets feeds go on from where they stood.
    public func resume() { feeds.resume() }

    /// Closes all connections; feeds end as if their tasks were cancelled.
    public func close() {
        caller.close()
        feeds.close()
    }

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
        var held = try await keeper.usable(within: settings.requestTimeout)
        var attempt = 1
        var refusals = 0
        while true {
            do throws(CallFailure) {
                let answer = try await caller.call(body, as: held.credentials)
                if let seconds = answer.serverSeconds { keeper.heard(serverSeconds: seconds) }
                return try GraphQLAnswer.data(of: answer, from: address)
            } catch {
                let isRefused = isRepeatable && error.error.code == .unauthenticated
                if error.isRefusedCredentials || isRefused, refusals < 2 {
                    refusals += 1
                    held = try await keeper.replacement(
                        for: held,
                        refused: error.error,
                        within: settings.requestTimeout
                    )
                    continue
                }
                let mayRetry: Bool =
                    switch error.retry {
                    case .always: true
                    case .ifRepeatable: isRepeatable
                    case .never: false
                    }
                guard mayRetry, attempt < settings.maximumAttempts else { throw error.error }
                settings.log?(ClientEvent("request.repeated", error.error.code, count: attempt))
                try await pause(afterFailures: attempt, settings.requestPauses, atLeastSeconds: error.retryAfterSeconds)
                attempt += 1
                held = try await keeper.usable(within: settings.requestTimeout)
            }
        }
    }

    /// Waits before another attempt; what a server asks for is kept up to a minute.
    func pause(
        afterFailures failures: Int,
        _ pauses: Backoff,
        atLeastSeconds seconds: Int? = nil
    ) async throws(ClientError) {
        let pause = pauses.pause(afterFailures: failures, random: settings.environment.random())
        let asked = Duration.seconds(min(max(seconds ?? 0, 0), 60))
        do {
            try await settings.environment.sleep(max(pause, asked))
        } catch {
            throw .cancelled
        }
    }
}
