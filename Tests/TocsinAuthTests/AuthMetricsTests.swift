import JSON
import Metrics
import Testing
import TocsinAuth
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("What sign-in counts")
struct AuthMetricsTests {
    @Test("each check is counted by what was shown and what came of it; one that is remembered is none")
    func checks() async throws {
        let world = try await World.secret()
        let metrics = AuthMetrics(time: world.time)
        let authenticator = TokenAuthenticator(
            local: world.local,
            external: ExternalTokens(
                issuer: "https://id.example",
                audiences: ["app-1"],
                keys: .secret(try HMACKey(secret: Array(Fixtures.hs256Secret.utf8)))
            ),
            store: world.store,
            time: world.time,
            metrics: metrics
        )
        let now = world.time.now().milliseconds / 1000
        let good = try Forge.hs256([("iat", .int(now)), ("exp", .int(now + 3600))])
        let old = try Forge.hs256([("iat", .int(now - 7200)), ("exp", .int(now - 3600))])
        for token in [good, good, old, "nonsense", APIKey.prefix + "made-up"] {
            _ = await authenticator.authenticate(token: token)
        }
        let text = String(decoding: MetricFormat.text.write(metrics.families), as: UTF8.self)
        for line in [
            #"tocsin_auth_total{method="jwt",result="ok"} 1"#, #"tocsin_auth_total{method="jwt",result="expired"} 1"#,
            #"tocsin_auth_total{method="token",result="bad"} 1"#, #"tocsin_auth_total{method="key",result="bad"} 1"#,
            "tocsin_auth_duration_seconds_count 4",
        ] {
            #expect(text.contains(line + "\n"), "\(line) is not in \(text)")
        }
        #expect(!text.contains("tocsin_jwks_age_seconds"))
        metrics.makeKeySetGauge().set(Int(world.time.now().milliseconds) - 90_000)
        let later = String(decoding: MetricFormat.text.write(metrics.families), as: UTF8.self)
        #expect(later.contains("tocsin_jwks_age_seconds 90.0\n"))
    }
}
