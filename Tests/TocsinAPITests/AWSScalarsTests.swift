import JSON
import Testing

@Suite("AppSync's scalars as inputs")
struct AWSScalarsTests {
    private static let cases: [(String, JSONValue, Bool)] = [
        ("AWSDateTime", "2026-07-01T12:00:00.000Z", true), ("AWSDateTime", "2026-07-01T12:00+00:00", true),
        ("AWSDateTime", "2026-07-01T12:00:00.123456789+02:00", true),
        ("AWSDateTime", "2026-07-01T12:00:00+05:30:12", true),
        ("AWSDateTime", "2026-07-01T12:00:00", true), ("AWSDateTime", "2026-07-01", false),
        ("AWSDateTime", "2026-07-01 12:00:00Z", false), ("AWSDateTime", "2026-13-01T12:00:00Z", false),
        ("AWSDateTime", "2026-02-29T12:00:00Z", false), ("AWSDateTime", "2024-02-29T12:00:00Z", true),
        ("AWSDateTime", "2026-07-01T12:00:00+0800", false), ("AWSDateTime", 5, false), ("AWSDateTime", "", false),
        ("AWSURL", "https://example.com/a?b#c", true), ("AWSURL", "example.com", false), ("AWSURL", "https://", false),
        ("AWSURL", "https://a b", false), ("AWSJSON", "{\"a\":\"b\"}", true), ("AWSJSON", "{", false),
    ]

    @Test("are accepted and refused as AppSync does", arguments: cases)
    func inputs(scalar: String, value: JSONValue, isAccepted: Bool) async throws {
        let (field, input): (String, JSONObject) =
            switch scalar {
            case "AWSDateTime": ("createdAt", ["createdAt": value])
            case "AWSURL": ("url", ["url": value])
            default: ("data", ["data": value])
            }
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let response = try await api.publish("t", to: topic, with: input)
        #expect((response["number"] == 1) == isAccepted, "\(field): \(response.serializedString())")
    }
}
