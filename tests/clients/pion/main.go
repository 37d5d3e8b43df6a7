// A caller that uses Pion, for network outages in tests and benchmarks. It sends Opus, answers every offer, and
// rejoins when it loses the signalling connection.
//
// It prints "grant" when it needs the chat server's response to voice_join, which it then reads as a line of JSON. It
// prints "sound MILLISECONDS" ten times a second while packets arrive. It exits when its input ends.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
)

const (
	probeEvery  = 2 * time.Second
	probeWithin = 2 * time.Second
	frame       = 20 * time.Millisecond
)

// An Opus frame of silence.
var silence = []byte{0xf8, 0xff, 0xfe}

var lastPacket atomic.Int64

// The machine's current networks. By default, Pion reads the networks once for each PeerConnection. An ICE
// restart would then not find a network that appeared later, so the caller would stay on a dead network until
// it rejoins.
type networks struct{ *stdnet.Net }

func (networks) Interfaces() ([]*transport.Interface, error) {
	now, err := stdnet.NewNet()
	if err != nil {
		return nil, err
	}
	return now.Interfaces()
}

type grant struct {
	URLs       []string        `json:"urls"`
	ClientJoin json.RawMessage `json:"client_join"`
}

type message struct {
	Event string `json:"event"`
	Data  string `json:"data"`
}

func main() {
	base := os.Args[1]
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	go tellSound()
	for {
		fmt.Println("grant")
		if !input.Scan() {
			return
		}
		var given grant
		if err := json.Unmarshal(input.Bytes(), &given); err != nil || len(given.URLs) == 0 {
			fmt.Fprintln(os.Stderr, "no grant:", input.Text(), err)
		} else if err := stay(base, given); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		time.Sleep(250 * time.Millisecond)
	}
}

func tellSound() {
	reported := int64(0)
	for range time.Tick(100 * time.Millisecond) {
		if at := lastPacket.Load(); at != reported {
			reported = at
			fmt.Println("sound", at)
		}
	}
}

// A session that runs until its signalling or its media is lost.
type session struct {
	socket *websocket.Conn
	out    chan message
	over   chan struct{}
	pc     *webrtc.PeerConnection
	early  []webrtc.ICECandidateInit
}

func stay(base string, given grant) error {
	url := given.URLs[0]
	if strings.HasPrefix(url, "/") {
		url = base + url
	}
	dialer := websocket.Dialer{HandshakeTimeout: 3 * time.Second}
	socket, _, err := dialer.Dial(strings.Replace(url, "http", "ws", 1), nil)
	if err != nil {
		return err
	}
	defer socket.Close()
	engine := webrtc.SettingEngine{}
	engine.SetNet(networks{&stdnet.Net{}})
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(engine)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return err
	}
	defer pc.Close()
	s := &session{socket: socket, pc: pc, out: make(chan message, 64), over: make(chan struct{})}
	defer close(s.over)
	if err := s.prepare(); err != nil {
		return err
	}
	go s.write()
	s.out <- message{"client_join", string(given.ClientJoin)}
	for {
		socket.SetReadDeadline(time.Now().Add(probeEvery + probeWithin))
		var got message
		if err := socket.ReadJSON(&got); err != nil {
			return err
		}
		if err := s.take(got); err != nil {
			return err
		}
	}
}

func (s *session) prepare() error {
	track, err := webrtc.NewTrackLocalStaticSample(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "voice", "pion")
	if err != nil {
		return err
	}
	if _, err = s.pc.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly}); err != nil {
		return err
	}
	s.pc.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate != nil {
			s.say("candidate", candidate.ToJSON())
		}
	})
	s.pc.OnICEConnectionStateChange(func(state webrtc.ICEConnectionState) {
		fmt.Fprintln(os.Stderr, state)
		if state == webrtc.ICEConnectionStateDisconnected {
			s.say("renegotiate", map[string]bool{"ice_restart": true})
		}
	})
	s.pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			if _, _, err := track.ReadRTP(); err != nil {
				return
			}
			lastPacket.Store(time.Now().UnixMilli())
		}
	})
	go func() {
		ticker := time.NewTicker(frame)
		defer ticker.Stop()
		for {
			select {
			case <-s.over:
				return
			case <-ticker.C:
				_ = track.WriteSample(media.Sample{Data: silence, Duration: frame})
			}
		}
	}()
	return nil
}

func (s *session) say(event string, data any) {
	text, _ := json.Marshal(data)
	select {
	case s.out <- message{event, string(text)}:
	case <-s.over:
	}
}

func (s *session) write() {
	probe := time.NewTicker(probeEvery)
	defer probe.Stop()
	for {
		var next message
		select {
		case <-s.over:
			return
		case next = <-s.out:
		case <-probe.C:
			next = message{"keep_alive", fmt.Sprintf(`{"timestamp": %d}`, time.Now().UnixMilli())}
		}
		s.socket.SetWriteDeadline(time.Now().Add(probeWithin))
		if s.socket.WriteJSON(next) != nil {
			return
		}
	}
}

func (s *session) take(got message) error {
	switch got.Event {
	case "offer":
		return s.answer(got.Data)
	case "candidate":
		var candidate webrtc.ICECandidateInit
		if json.Unmarshal([]byte(got.Data), &candidate) != nil || candidate.Candidate == "" {
			return nil
		}
		if s.pc.RemoteDescription() == nil {
			s.early = append(s.early, candidate)
			return nil
		}
		return s.pc.AddICECandidate(candidate)
	case "room_error", "path_lost", "path_back":
		fmt.Fprintln(os.Stderr, got.Event, got.Data)
	}
	return nil
}

func (s *session) answer(data string) error {
	var offer webrtc.SessionDescription
	if err := json.Unmarshal([]byte(data), &offer); err != nil {
		return err
	}
	if err := s.pc.SetRemoteDescription(offer); err != nil {
		return err
	}
	answer, err := s.pc.CreateAnswer(nil)
	if err != nil {
		return err
	}
	if err := s.pc.SetLocalDescription(answer); err != nil {
		return err
	}
	s.say("answer", answer)
	for _, candidate := range s.early {
		if err := s.pc.AddICECandidate(candidate); err != nil {
			return err
		}
	}
	s.early = nil
	return nil
}
