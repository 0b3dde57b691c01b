import Synchronization
import Testing
import TocsinAPI
import TocsinCore

@Suite("A password that changes while a try with the one before is under way")
struct ChangedPasswordTests {
    private static let old = "correct horse battery"
    private let passwords = InterruptedPasswords()
    private let api: APIHarness
    private let desk: SignInDesk

    init() async throws {
        api = try await APIHarness(passwords: passwords, signsIn: true)
        desk = try #require(api.signInDesk)
        _ = try await api.services.people.add(name: "ann", password: Self.old, by: .shell)
    }

    private func changePassword() {
        let people = api.services.people
        passwords.afterNextCheck { () async throws(ServiceError) in
            _ = try await people.setPassword(of: UserReference("ann"), to: "another long one", by: .shell)
        }
    }

    @Test("signs nobody in: no session comes behind the end of all")
    func signIn() async throws {
        changePassword()
        await #expect(throws: ServiceError.self) {
            try await desk.service.signIn(username: "ann", password: Self.old, kind: .app)
        }
        #expect(desk.takeReasons() == ["changed_meanwhile"])
        _ = try await desk.service.signIn(username: "ann", password: "another long one", kind: .app)
    }

    @Test("elevates no session")
    func elevation() async throws {
        let new = try await desk.service.signIn(username: "ann", password: Self.old, kind: .browser)
        changePassword()
        await #expect(throws: ServiceError.self) {
            try await desk.service.elevate(Identity(new.session), password: Self.old)
        }
    }
}

/// Plain passwords of which one check is followed by something else, before it is answered.
private final class InterruptedPasswords: PasswordHashing {
    typealias Step = @Sendable () async throws(ServiceError) -> Void

    private let next = Mutex<Step?>(nil)
    private let plain = PlainPasswords()

    func afterNextCheck(_ step: @escaping Step) { next.withLock { $0 = step } }

    func hash(_ password: String) async throws(ServiceError) -> String { try await plain.hash(password) }

    func verify(_ password: String, against text: String) async throws(ServiceError) -> Bool {
        let isRight = try await plain.verify(password, against: text)
        let step = next.withLock { next in
            defer { next = nil }
            return next
        }
        try await step?()
        return isRight
    }

    func makePassword() -> String { plain.makePassword() }
}
