import Testing
import TocsinCore

@Suite("Brakes of sign-ins")
struct SignInBrakesTests {
    private static let start = Timestamp(milliseconds: 1_700_000_000_000)

    private static func attempt(_ network: String, isFamiliar: Bool = false) -> SignInBrakes.Try {
        SignInBrakes.Try(account: "ada", network: network, isFamiliar: isFamiliar)
    }

    /// Fails so often, and answers the last decision.
    @discardableResult
    private static func fail(
        _ brakes: SignInBrakes,
        _ attempt: SignInBrakes.Try,
        times: Int,
        at moment: Timestamp = start
    ) -> SignInBrakes.Decision {
        var decision = SignInBrakes.Decision.busy
        for _ in 0..<times {
            decision = brakes.begin(attempt, now: moment)
            if case .after = decision { brakes.finished(attempt) }
        }
        return decision
    }

    @Test("five failures are free, then tries wait 1, 2 and 3 seconds, whatever network they come from")
    func waits() {
        let brakes = SignInBrakes()
        #expect(Self.fail(brakes, Self.attempt("192.0.2.1"), times: 5) == .after(seconds: 0))
        for (number, seconds) in [(2, 1.0), (3, 2), (4, 3), (5, 3)] {
            #expect(Self.fail(brakes, Self.attempt("192.0.2.\(number)"), times: 1) == .after(seconds: seconds))
        }
        let later = Self.start.adding(seconds: 601)
        #expect(Self.fail(brakes, Self.attempt("192.0.2.1"), times: 1, at: later) == .after(seconds: 0))
    }

    @Test("strangers' failures, however many, slow no network from which the user signed in before")
    func familiar() {
        let brakes = SignInBrakes()
        for number in 0..<200 { Self.fail(brakes, Self.attempt("198.51.100.\(number)"), times: 40) }
        let own = Self.attempt("203.0.113.7", isFamiliar: true)
        #expect(Self.fail(brakes, own, times: 1) == .after(seconds: 0))
        brakes.succeeded(own)
        #expect(Self.fail(brakes, own, times: 5) == .after(seconds: 0))
        #expect(Self.fail(brakes, own, times: 1) == .after(seconds: 1))
    }

    @Test("no name that a stranger writes counts against a network from which the user signed in before")
    func crafted() {
        let brakes = SignInBrakes()
        for separator in ["\n", " ", "\0", ""] {
            let crafted = SignInBrakes.Try(account: "ada\(separator)203.0.113.7", network: nil, isFamiliar: false)
            Self.fail(brakes, crafted, times: 10)
        }
        let own = Self.attempt("203.0.113.7", isFamiliar: true)
        #expect(Self.fail(brakes, own, times: 1) == .after(seconds: 0))
    }

    @Test("that nobody has signed in from a network is kept for ten seconds, or until somebody does")
    func unknown() {
        let brakes = SignInBrakes()
        #expect(!brakes.isUnknown("192.0.2.0/24", now: Self.start))
        brakes.noteUnknown("192.0.2.0/24", now: Self.start)
        #expect(brakes.isUnknown("192.0.2.0/24", now: Self.start.adding(seconds: 9)))
        #expect(!brakes.isUnknown("192.0.2.0/24", now: Self.start.adding(seconds: 10)))
        #expect(!brakes.isUnknown("198.51.100.0/24", now: Self.start))
        brakes.noteKnown("192.0.2.0/24")
        #expect(!brakes.isUnknown("192.0.2.0/24", now: Self.start))
    }

    @Test("a network with thirty failures may try once a minute, and others go on")
    func networks() {
        let brakes = SignInBrakes()
        Self.fail(brakes, Self.attempt("192.0.2.1"), times: 30)
        #expect(Self.fail(brakes, Self.attempt("192.0.2.1"), times: 1) == .refused(seconds: 60))
        let soon = Self.start.adding(seconds: 59.5)
        #expect(Self.fail(brakes, Self.attempt("192.0.2.1"), times: 1, at: soon) == .refused(seconds: 1))
        let later = Self.start.adding(seconds: 60)
        #expect(Self.fail(brakes, Self.attempt("192.0.2.1"), times: 1, at: later) == .after(seconds: 3))
        #expect(Self.fail(brakes, Self.attempt("192.0.2.1"), times: 1, at: later) == .refused(seconds: 60))
        #expect(Self.fail(brakes, Self.attempt("192.0.2.9"), times: 1, at: later) == .after(seconds: 3))
    }

    @Test("a right password counts as no failure")
    func success() {
        let brakes = SignInBrakes()
        for _ in 0..<100 {
            let attempt = Self.attempt("192.0.2.1")
            #expect(brakes.begin(attempt, now: Self.start) == .after(seconds: 0))
            brakes.succeeded(attempt)
            brakes.finished(attempt)
        }
    }

    @Test("256 tries of strangers may wait at once; the user's own come through")
    func bounded() {
        let brakes = SignInBrakes()
        for number in 0..<256 {
            let attempt = SignInBrakes.Try(account: "a\(number)", network: nil, isFamiliar: false)
            #expect(brakes.begin(attempt, now: Self.start) == .after(seconds: 0))
        }
        #expect(brakes.begin(Self.attempt("192.0.2.1"), now: Self.start) == .busy)
        #expect(brakes.begin(Self.attempt("192.0.2.1", isFamiliar: true), now: Self.start) == .after(seconds: 0))
    }

    @Test("tries that wait equally long come back spread over a third of that, each network at its own moment")
    func spread() {
        let waits = (0..<200).map { Self.attempt("198.51.\($0).9").share(ofSeconds: 3) }
        #expect(waits.allSatisfy { (2...3).contains($0) })
        for tenth in 0..<10 {
            let from = 2 + Double(tenth) / 10
            #expect((5...50).contains(waits.count { $0 >= from && $0 < from + 0.1 }), "\(from)")
        }
        let own = Self.attempt("192.0.2.1")
        #expect(own.share(ofSeconds: 3) == own.share(ofSeconds: 3))
    }

    @Test("whoever fails again and again leaves room to check for those who are new")
    func guessers() {
        let brakes = SignInBrakes()
        let guesser = Self.attempt("192.0.2.1")
        Self.fail(brakes, guesser, times: 4)
        for _ in 0..<2 { #expect(brakes.beginCheck(guesser)) }
        #expect(!brakes.beginCheck(guesser))
        let newcomer = Self.attempt("192.0.2.2")
        Self.fail(brakes, newcomer, times: 3)
        for _ in 0..<2 { #expect(brakes.beginCheck(newcomer)) }
        #expect(!brakes.beginCheck(newcomer))
    }

    @Test("four passwords of strangers are checked at once; the user's own have room beside them")
    func checks() {
        let brakes = SignInBrakes()
        let stranger = Self.attempt("192.0.2.1")
        for _ in 0..<4 { #expect(brakes.beginCheck(stranger)) }
        #expect(!brakes.beginCheck(stranger))
        #expect(brakes.beginCheck(Self.attempt("192.0.2.1", isFamiliar: true)))
        brakes.endCheck(stranger)
        #expect(brakes.beginCheck(stranger))
    }

    @Test(
        "an IPv4 address is one network, and so are 64 bits of IPv6",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2"),
            ("2001:DB8:1:2::9", "2001:db8:1:2"), ("2001:db8::9", "2001:db8:0:0"), ("::1", "0:0:0:0"),
        ]
    )
    func network(address: String, network: String) {
        #expect(SignInBrakes.network(of: address) == network)
    }
}
