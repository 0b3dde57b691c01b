import Glibc
import Testing
import TocsinAuth
import TocsinCore

@Suite("Passwords, one after the other")
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
        let gate = PasswordGate(processors: 1)
        let bound = 1 + PasswordGate.maximumWaiting
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<(3 * bound) {
                group.addTask {
                    do throws(ServiceError) {
                        _ = try await gate.verify("correct horse", against: Self.quick)
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

    /// A hash of no password, an eighth as dear as ours.
    private static let quick = "$scrypt$ln=12,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$AAECAwQFBgcICQoLDA0ODw"

    @Test("after each wrong password it rests: all the more where processors are few")
    func rests() async throws {
        let text = try PasswordHash.make("correct horse")
        let cost = Self.spent()
        #expect(!PasswordHash.verify("another horse", against: text))
        let spent = Self.spent() - cost
        let gate = PasswordGate(processors: 1)
        let begin = ContinuousClock.now
        await withDiscardingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { #expect(await (try? gate.verify("another horse", against: text)) == false) }
            }
        }
        // Four are worked on, with seven times as long between them: twenty-five times one.
        #expect(begin.duration(to: .now) > .seconds(13 * spent))
    }

    /// What this thread has had of a processor, in seconds.
    private static func spent() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
