import Glibc
import NIOHTTP1

/// The fields of a request head that the server looks at, found in one walk over all that were sent.
struct KnownFields: Sendable {
    /// A field that the server looks at.
    enum Name: Int {
        case host, accept, expect, origin, upgrade, apiKey, connection, contentType, authorization, contentLength
        case contentEncoding, transferEncoding, forwarded, forwardedFor

        /// The field's name as it is written, in lower case.
        private var text: StaticString {
            switch self {
            case .host: "host"
            case .accept: "accept"
            case .expect: "expect"
            case .origin: "origin"
            case .upgrade: "upgrade"
            case .apiKey: "x-api-key"
            case .connection: "connection"
            case .contentType: "content-type"
            case .authorization: "authorization"
            case .contentLength: "content-length"
            case .contentEncoding: "content-encoding"
            case .transferEncoding: "transfer-encoding"
            case .forwarded: "forwarded"
            case .forwardedFor: "x-forwarded-for"
            }
        }

        /// The field of this name, whatever its case.
        init?(_ name: String) {
            guard let first = name.utf8.first else { return nil }
            let candidate: Name?
            switch (name.utf8.count, first | 0x20) {
            case (4, UInt8(ascii: "h")): candidate = .host
            case (6, UInt8(ascii: "a")): candidate = .accept
            case (6, UInt8(ascii: "e")): candidate = .expect
            case (6, UInt8(ascii: "o")): candidate = .origin
            case (7, UInt8(ascii: "u")): candidate = .upgrade
            case (9, UInt8(ascii: "x")): candidate = .apiKey
            case (9, UInt8(ascii: "f")): candidate = .forwarded
            case (10, UInt8(ascii: "c")): candidate = .connection
            case (12, UInt8(ascii: "c")): candidate = .contentType
            case (13, UInt8(ascii: "a")): candidate = .authorization
            case (14, UInt8(ascii: "c")): candidate = .contentLength
            case (15, UInt8(ascii: "x")): candidate = .forwardedFor
            case (16, UInt8(ascii: "c")): candidate = .contentEncoding
            case (17, UInt8(ascii: "t")): candidate = .transferEncoding
            default: candidate = nil
            }
            guard let candidate, candidate.isSpelled(name) else { return nil }
            self = candidate
        }

        /// Whether a name of the same length is this one; the parser takes only bytes of tokens in names.
        private func isSpelled(_ name: String) -> Bool {
            let text = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            // Bit 5 tells small letters from capitals; a hyphen has it.
            let isSame = name.utf8.withContiguousStorageIfAvailable { bytes in
                bytes.indices.allSatisfy { bytes[$0] | 0x20 == text[$0] }
            }
            return isSame ?? name.utf8.elementsEqual(text, by: { $0 | 0x20 == $1 })
        }
    }

    /// All fields that were sent.
    private let sent: [(name: String, value: String)]
    /// The position of each field's first value among all that were sent, counted from 1; 0 where
    /// it was not sent.
    private var positions = SIMD16<UInt16>.zero
    /// The fields that were sent more than once, by their bits.
    private var repeated: UInt32 = 0
    /// One bit for each value that is looked at whenever it comes, but for the body's length;
    /// complete for heads of up to 64 fields.
    private var looked: UInt64 = 0
    /// What names and values take in the head, in bytes.
    private(set) var bytes = 0

    /// The fields of this head; of more than the parser takes the last ones are not looked at.
    init(_ headers: HTTPHeaders) {
        sent = Array(headers)
        var position: UInt16 = 0
        for (name, value) in sent where position < .max {
            position += 1
            bytes += name.utf8.count + value.utf8.count + 4
            guard let known = Name(name) else { continue }
            if known != .contentLength { looked |= 1 << UInt64(position - 1) }
            if positions[known.rawValue] == 0 {
                positions[known.rawValue] = position
            } else {
                repeated |= 1 << UInt32(known.rawValue)
            }
        }
    }

    /// The first value of a field, in the head that these were made of.
    subscript(name: Name) -> String? { has(name) ? sent[Int(positions[name.rawValue]) - 1].value : nil }

    /// The value of a field in a head that these fields cover.
    func value(_ name: Name, in headers: HTTPHeaders) -> String? {
        guard has(name) else { return nil }
        return headers[headers.index(headers.startIndex, offsetBy: Int(positions[name.rawValue]) - 1)].value
    }

    /// All values of a field, joined by commas.
    func joined(_ name: Name) -> String? {
        guard isRepeated(name) else { return self[name] }
        return sent.filter { Name($0.name) == name }.map(\.value).joined(separator: ", ")
    }

    /// Whether what is known of these fields holds for another head, of so many bytes at most.
    ///
    /// It does if the head has the same names in the same order, and the same values of all fields
    /// that the server looks at but the body's length.
    func cover(_ other: HTTPHeaders, maximumBytes: Int) -> Bool {
        guard other.count == sent.count, sent.count <= 64 else { return false }
        var room = maximumBytes
        var rest = looked
        var index = other.startIndex
        for mine in sent {
            let (name, value) = other[index]
            guard name.hasBytes(of: mine.name), rest & 1 == 0 || value.hasBytes(of: mine.value) else { return false }
            room -= name.utf8.count + value.utf8.count + 4
            rest >>= 1
            index = other.index(after: index)
        }
        return room >= 0
    }

    /// Whether a field was sent.
    func has(_ name: Name) -> Bool { positions[name.rawValue] != 0 }

    /// Whether a field was sent more than once.
    func isRepeated(_ name: Name) -> Bool { repeated & 1 << UInt32(name.rawValue) != 0 }

    /// The value of a field that was sent once.
    func single(_ name: Name) -> String? { isRepeated(name) ? nil : self[name] }
}

extension String {
    /// Whether both are the same bytes: `==` takes two spellings of a letter for one.
    func hasBytes(of other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { Self.areSame(UnsafeRawBufferPointer(mine), .init($0)) }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// By the C library: what a loop over the elements costs for a head is a tenth of the whole request.
    private static func areSame(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let left = one.baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, one.count) == 0
    }
}
