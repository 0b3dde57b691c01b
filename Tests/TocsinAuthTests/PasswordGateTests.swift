import Testing
import TocsinAuth
import TocsinCore

@Suite("Passwords, a few at once")
struct PasswordGateTests {
    @Test("a hash is made and holds against its password alone")
    func roundTrip() async throws {
        let gate = PasswordGate()
        let hash = try await gate.hash("correct horse")
        #expect(try await gate.verify("correct horse", against: hash))
        #expect(try await !gate.verify("another horse", against: hash))
        #expect(gate.makePassword() != gate.makePassword())
    }

    @Test("what is more than can run and wait is refused at once, and the rest is done")
    func bound() async throws {
        let gate = PasswordGate()
        let bound = PasswordGate.maximumRunning + PasswordGate.maximumWaiting
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<(3 * bound) {
                group.addTask {
                    do throws(ServiceError) {
                        _ = try await gate.hash("correct horse")
                        return true
                    } catch {
                        if case .limit = error { return false }
                        Issue.record("\(error)")
                        return false
                    }
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(outcomes.filter(\.self).count >= bound)
        #expect(outcomes.contains(false))
        #expect(try await gate.hash("after all that").hasPrefix("$scrypt$"))
    }
}
