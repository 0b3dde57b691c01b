import JSON
package import TocsinCore

/// The access token of one service account: fetched by one task at a time, shared by all.
///
/// A token is used for 58 minutes or nine tenths of its life, whichever is shorter. If a fetch
/// fails the old one serves while it is valid, and the next fetch waits 1, 2, 4 … 60 seconds.
package actor FCMAccessTokenSource {
    /// Why there is no token; every push of the project waits.
    package struct Trouble: Error, Sendable, Hashable {
        /// What failed, for logs; never key material.
        package var reason: String
    }

    private struct Held {
        var text: String
        var freshUntil: Timestamp
        var validUntil: Timestamp
    }

    private static let reuseSeconds = 3480.0
    private static let assertionSeconds: Int64 = 3600
    private static let maximumBackoffSeconds = 60.0
    private let credentials: FCMCredentials
    private let http: any OutgoingHTTP
    private let time: any TimeSource
    private let metrics: ProviderMetrics?
    private var held: Held?
    private var isFetching = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var failure: (trouble: Trouble, retryAt: Timestamp, backoffSeconds: Double)?

    /// A source that fetches its first token when one is asked for.
    package init(
        credentials: FCMCredentials,
        http: any OutgoingHTTP,
        time: any TimeSource,
        metrics: ProviderMetrics? = nil
    ) {
        self.metrics = metrics
        self.credentials = credentials
        self.http = http
        self.time = time
    }

    /// The token to use now, fetched if need be.
    package func token() async -> Result<String, Trouble> {
        if let held, time.now() < held.freshUntil { return .success(held.text) }
        await refresh()
        return current()
    }

    /// The service refused this token: forgets it, unless another one has taken its place already.
    package func reject(_ text: String) {
        if held?.text == text { held = nil }
    }

    private func current() -> Result<String, Trouble> {
        if let held, time.now() < held.validUntil { return .success(held.text) }
        return .failure(failure?.trouble ?? Trouble(reason: "no access token"))
    }

    /// Fetches once for all who ask meanwhile, and not at all while a failure is fresh.
    private func refresh() async {
        if isFetching {
            await withCheckedContinuation { waiters.append($0) }
            return
        }
        if let failure, time.now() < failure.retryAt { return }
        isFetching = true
        let outcome = await fetch()
        isFetching = false
        switch outcome {
        case .success(let fetched):
            held = fetched
            failure = nil
            metrics?.credential.noteMade()
        case .failure(let trouble):
            metrics?.credential.noteFailure()
            let pause = min(Self.maximumBackoffSeconds, (failure?.backoffSeconds ?? 0.5) * 2)
            failure = (trouble, time.now().adding(seconds: pause), pause)
        }
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }

    private func fetch() async -> Result<Held, Trouble> {
        let now = time.now()
        let assertion: String
        do throws(KeyError) {
            assertion = try makeAssertion(now)
        } catch {
            return .failure(Trouble(reason: "FCM key: \(error)"))
        }
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" + assertion
        let request = OutgoingRequest(
            method: "POST",
            url: credentials.tokenURL,
            headers: [("content-type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8),
            maximumBodyBytes: 64 << 10
        )
        switch await http.send(request) {
        case .failed(let reason):
            return .failure(Trouble(reason: "token endpoint: " + ReasonText.cleaned(reason)))
        case .response(let status, let headers, let body):
            let date = headers.first { $0.name == "date" }?.value
            let skew = ClockSkew.text(date: date, now: now, of: "Google's")
            return read(status, body, askedAt: now, skew)
        }
    }

    private func read(
        _ status: Int,
        _ body: [UInt8],
        askedAt now: Timestamp,
        _ skew: String?
    ) -> Result<Held, Trouble> {
        let answer = try? JSONParser.parse(body)
        guard status == 200, let text = answer?["access_token"]?.stringValue, Self.isHeaderText(text) else {
            let cause = answer?["error"]?.stringValue.map(ReasonText.cleaned) ?? "HTTP \(status)"
            guard cause == "invalid_grant" else { return .failure(Trouble(reason: "token endpoint: \(cause)")) }
            let detail = ReasonText.cleaned(answer?["error_description"]?.stringValue ?? "")
            return .failure(
                Trouble(
                    reason:
                        "token endpoint: invalid_grant (\(detail)). "
                        + (skew.map { "Set the clock: \($0)." }
                            ?? "Check this machine's clock, and that the key of \(credentials.clientEmail) has not been "
                            + "revoked.")
                )
            )
        }
        let life = min(max(answer?["expires_in"]?.doubleValue ?? 3600, 0), 86_400)
        let fresh = min(Self.reuseSeconds, life * 0.9)
        return .success(
            Held(
                text: text,
                freshUntil: now.adding(seconds: fresh),
                validUntil: now.adding(seconds: max(fresh, life - 30))
            )
        )
    }

    private func makeAssertion(_ now: Timestamp) throws(KeyError) -> String {
        let seconds = now.milliseconds / 1000
        let claims: JSONObject = [
            "iss": .string(credentials.clientEmail),
            "scope": "https://www.googleapis.com/auth/firebase.messaging",
            "aud": .string(credentials.tokenURL),
            "iat": .int(seconds),
            "exp": .int(seconds + Self.assertionSeconds),
        ]
        return try WebToken.make(claims: claims, keyID: credentials.keyID, signer: credentials.signer)
    }

    private static func isHeaderText(_ text: String) -> Bool {
        (1...8192).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
