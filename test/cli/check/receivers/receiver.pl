# A receiver with Perl's core modules alone, right unless FAULT names what is wrong with it.
# One connection at a time, and an answer that does not tell a repeat: both are right.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);
use IO::Handle;
use IO::Socket::INET;
use JSON::PP;

my $secret = $ENV{SIGNALS_SECRET};
my $fault = $ENV{FAULT} // '';
my $path = $ENV{JOURNAL};
my $limit = 262144;
my $json = JSON::PP->new->utf8->canonical;

my %known;
if ($fault ne 'forgets-on-restart' && open my $before, '<:raw', $path) {
    while (my $id = <$before>) { chomp $id; $known{$id} = 1 }
}
open my $journal, '>>:raw', $path or die "cannot write the journal: $!";
$journal->autoflush(1);

sub same {
    my ($left, $right) = @_;
    return 0 if length $left != length $right;
    my $difference = 0;
    $difference |= ord(substr $left, $_, 1) ^ ord(substr $right, $_, 1) for 0 .. length($left) - 1;
    return $difference == 0;
}

sub is_signed {
    my ($header, $body) = @_;
    return 0 unless defined $header && $header =~ /\At=([0-9]{1,12}),v1=([0-9a-f]{64})\z/;
    my ($t, $v1) = ($1, $2);
    return 0 if abs(time - $t) > 300 && $fault ne 'no-age-check';
    return same(hmac_sha256_hex("$t.$body", $secret), $v1);
}

sub receive {
    my ($method, $headers, $body) = @_;
    return (405, { error => 'POST alone' }) if $method ne 'POST';
    return (413, { error => 'too large' }) if length $body > $limit;
    my $event = eval { $json->decode($body) };
    my $is_event = ref $event eq 'HASH' && defined $event->{id} && ref $event->{data} eq 'HASH';
    my $challenge = $is_event && ($event->{type} // '') eq 'webhook.verification' ? $event->{data}{challenge} : undef;
    return (200, { challenge => $challenge }) if defined $challenge && $fault eq 'answers-any-challenge';
    return (401, { error => 'bad signature' }) unless is_signed($headers->{'x-service-signature'}, $body);
    return (200, { kept => JSON::PP::true }) unless $is_event;
    return (200, { challenge => $challenge }) if defined $challenge;
    if (!$known{ $event->{id} } || $fault eq 'no-dedupe') {
        $known{ $event->{id} } = 1;
        my $id = $event->{id};
        utf8::encode($id);
        print {$journal} "$id\n";
    }
    return (200, { ok => JSON::PP::true });
}

my $server = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1',
    LocalPort => $ENV{PORT} // 0,
    Listen => 128,
    ReuseAddr => 1,
) or die "cannot listen: $@";
STDOUT->autoflush(1);
print $server->sockport, "\n";

$SIG{PIPE} = 'IGNORE';
while (1) {
    my $client = $server->accept or next;
    binmode $client;
    my $request = <$client> // next;
    my ($method) = split ' ', $request;
    my %headers;
    while (defined(my $line = <$client>)) {
        $line =~ s/\r?\n\z//;
        last if $line eq '';
        my ($name, $value) = split /:\s*/, $line, 2;
        # Twice the same header is a list, which no signature is.
        my $key = lc $name;
        $headers{$key} = defined $headers{$key} ? "$headers{$key}, $value" : $value;
    }
    my $body = '';
    read $client, $body, $headers{'content-length'} if $headers{'content-length'};
    my ($status, $content) = receive($method, \%headers, $body);
    my $text = $json->encode($content);
    print {$client} "HTTP/1.1 $status -\r\nContent-Type: application/json\r\nContent-Length: " . length($text)
        . "\r\nConnection: close\r\n\r\n$text";
    close $client;
}
