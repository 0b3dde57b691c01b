import JSON
import TocsinClient
import TocsinServer

/// Posts the entries of one lane, with its key.
struct SpoolPoster {
    private let caller: PathCaller
    private let key: String

    /// How long one post is tried again.
    private static let patience: Duration = .seconds(3)
    /// How long an answer is waited for when the time for sending is over: cut off, the post would
    /// have to be repeated.
    private static let grace: Duration = .seconds(2)
    private static let pauses = Backoff(first: .milliseconds(250), longest: .seconds(1))

    init(_ entry: SpoolEntry) throws(ClientError) {
        key = try Self.key(in: entry.keyFile)
        var settings = ClientSettings()
        settings.certificateAuthorityFile = entry.authorityFile
        // Who writes an address knows the network.
        settings.allowsPlainText = true
        caller = try PathCaller(url: entry.server, settings: settings)
    }

    func close() { caller.close() }

    /// Posts until the server has decided, for three seconds at most.
    func post(_ entry: SpoolEntry, until deadline: ContinuousClock.Instant) async -> SpoolSender.Fate {
        guard ContinuousClock.now < deadline else { return .waiting(reason: "the time for sending is over") }
        let end = min(deadline + Self.grace, .now + Self.patience)
        var failures = 0
        while true {
            let (fate, leastPause) = await attempt(entry, until: end)
            guard case .waiting = fate else { return fate }
            failures += 1
            let pause = max(leastPause, Self.pauses.pause(afterFailures: failures, random: .random(in: 0.5..<1)))
            guard ContinuousClock.now + pause < min(end, deadline) else { return fate }
            do { try await Task.sleep(for: pause) } catch { return fate }
        }
    }

    private func attempt(
        _ entry: SpoolEntry,
        until end: ContinuousClock.Instant
    ) async -> (fate: SpoolSender.Fate, leastPause: Duration) {
        let request = PathCaller.Request(
            path: entry.path,
            headers: [("Authorization", "Bearer \(key)"), ("Content-Type", entry.contentType)],
            body: entry.body
        )
        do throws(ClientError) {
            let answer = try await caller.post(request, until: end)
            return (Self.fate(answer), .seconds(answer.retryAfterSeconds ?? 0))
        } catch {
            return (.waiting(reason: Self.clause(error)), .zero)
        }
    }

    /// A status below 500 will not change by itself but for those that ask for patience.
    private static func fate(_ answer: PathCaller.Answer) -> SpoolSender.Fate {
        switch answer.status {
        case 200..<300: .sent
        case 408, 425, 429: .waiting(reason: sentence(answer))
        case 400..<500: .refused(reason: sentence(answer))
        default: .waiting(reason: sentence(answer))
        }
    }

    private static func sentence(_ answer: PathCaller.Answer) -> String {
        let said = (try? JSONParser.parse(answer.body))?["error"]?["message"]?.stringValue ?? ""
        let remark = said.isEmpty ? "" : " (\(said.prefix(300)))"
        return Terminal.harmless("the server answered \(answer.status)" + remark)
    }

    /// A failure as the part of a sentence.
    static func clause(_ error: ClientError) -> String {
        let text = Terminal.harmless(error.message)
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// The key in a file; the sentence names the file and never what is in it.
    static func key(in path: String) throws(ClientError) -> String {
        let text: String
        do throws(SystemFile.Failure) {
            text = try SystemFile.text(of: path)
        } catch {
            throw ClientError(.unauthenticated, "the key file \(path) cannot be used: \(error.reason)")
        }
        let key = text.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }
        guard !key.isEmpty, text.allSatisfy({ $0.isASCII }), text.split(whereSeparator: \.isWhitespace).count == 1,
            key.utf8.count <= 512, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw ClientError(.unauthenticated, "the key file \(path) does not hold a key and nothing else")
        }
        return String(key)
    }
}
