package derive

// What the paths of the tree give for the root 000102…1f, computed once;
// those of our own purposes also by an unrelated HKDF.
const (
	pinnedDomain   = "85c011ec59d19e633c1deae22aa5df8d1b7114fa4ee2bf98c3b8cd84a348201e"
	pinnedAction   = "e6662d17624c87d12bd96b0aa6c51d3b04673ab5fa08631687b919d2c841332c"
	pinnedMaterial = "d953bd15cbcb2f04eeb43da0ad45ac88c7a884605638c34f3ccc57f191587d95"
	pinnedMint     = "4f2bfdfb3d5fca23747df736b8be0edb99f823ee95caac81790aab221351123b"
	pinnedOwner0   = "b6974e59242f5f677700bb018e906277b55c3fd1d82e9409c993e6ccecb2bedf"
	pinnedOwner1   = "92120450c6f495e64c4d290f819da9f5f51f9e6ac436da2fa5fb85bf1e2d03fb"
	pinnedLog      = "6c75d2847dc454e682503fb384504ba0da8a5e3708c9a6a0d4a4375964e367a5"
	pinnedStore    = "4827b6ab532e65f6c20fd56e9f30dac49e01ccb34b270987678dd38b934bdfd0"
	pinnedOwnerKey = "UBILKZEGGRAWJKMM4CLPZI7NZTA2ED5344QWRM2I7LJ6KEEGGQE2FJFM"
)
