import Testing
import TocsinClient

@Suite("Pinned keys")
struct PinnedKeysTests {
    private static let one = "sha256/" + String(repeating: "A", count: 43) + "="
    private static let other = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    private static func make(_ pins: [String]) throws -> TocsinClient {
        var settings = ClientSettings()
        settings.pinnedKeys = pins
        return try TocsinClient("https://push.example.com", credentials: .token("t"), settings: settings)
    }

    @Test(
        "what is no digest of 32 bytes is refused, and so is one key alone",
        arguments: [
            ["sha256/AAAA", PinnedKeysTests.one],
            ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", PinnedKeysTests.one], ["sha256/", PinnedKeysTests.one],
            [PinnedKeysTests.one], [PinnedKeysTests.one, PinnedKeysTests.one],
        ]
    )
    func refused(_ pins: [String]) {
        let error = #expect(throws: ClientError.self) { try Self.make(pins) }
        #expect(error?.code == .badAddress)
    }

    @Test("two keys are taken, with or without the padding of base 64")
    func taken() throws {
        _ = try Self.make([Self.one, Self.other])
        _ = try Self.make([Self.one, String(Self.other.dropLast())])
    }
}
