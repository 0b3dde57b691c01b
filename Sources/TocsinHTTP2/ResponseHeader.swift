/// The response headers a sender needs; the rest is dropped.
enum ResponseHeader {
    case status
    case kept(String)
    case dropped

    init(_ name: UnsafeBufferPointer<UInt8>) {
        switch name.count {
        case 7 where name.first == UInt8(ascii: ":"): self = name.elementsEqual(":status".utf8) ? .status : .dropped
        case 4: self = Self.kept("date", ifEqualTo: name)
        case 7: self = Self.kept("apns-id", ifEqualTo: name)
        case 8: self = Self.kept("location", ifEqualTo: name)
        case 11: self = Self.kept("retry-after", ifEqualTo: name)
        case 12: self = Self.kept("content-type", ifEqualTo: name)
        case 14: self = Self.kept("apns-unique-id", ifEqualTo: name)
        default: self = .dropped
        }
    }

    private static func kept(_ candidate: String, ifEqualTo name: UnsafeBufferPointer<UInt8>) -> ResponseHeader {
        name.elementsEqual(candidate.utf8) ? .kept(candidate) : .dropped
    }
}
