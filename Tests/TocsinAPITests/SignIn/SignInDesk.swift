import Synchronization
import TocsinAPI
import TocsinCore

/// Where people sign in, without sockets: what `/auth/` and GraphQL call.
final class SignInDesk: Sendable {
    let service: SignInService
    let sessions: SessionService
    private let log: Log

    init(_ environment: ServiceEnvironment, _ passwords: any PasswordHashing) {
        let log = Log()
        self.log = log
        service = SignInService(
            environment: environment,
            limits: SessionLimits(),
            secrets: CountedSecrets(),
            passwords: passwords,
            decoy: PlainPasswords.decoy,
            takesPasswords: true,
            refusals: RefusedSignIns(environment: environment) { log.add($0.reason) }
        )
        sessions = SessionService(environment: environment, limits: SessionLimits(), secrets: CountedSecrets())
    }

    /// Why sign-ins were refused since this was asked last.
    func takeReasons() -> [String] { log.take() }

    private final class Log: Sendable {
        private let reasons = Mutex([String]())

        func add(_ reason: String) { reasons.withLock { $0.append(reason) } }

        func take() -> [String] {
            reasons.withLock { reasons in
                defer { reasons = [] }
                return reasons
            }
        }
    }
}

/// Secrets that count up.
private final class CountedSecrets: SessionSecrets {
    private static let count = Atomic<Int>(0)

    func make(_ kind: Session.Kind) -> String {
        "\(kind.rawValue)-\(Self.count.add(1, ordering: .relaxed).newValue)"
    }

    func digest(of secret: String) -> String { "digest of " + secret }
}
